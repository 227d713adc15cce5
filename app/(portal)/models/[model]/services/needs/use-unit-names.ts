'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';

/** Number of units that a line names. */
const maxNamed = 5;

/** Returns a function that names the first units, and says how many more there are. */
export function useUnitNames(): (units: readonly { unit: string }[]) => string {
  const { t } = useTranslation('services');
  const format = useFormat();
  return (units) => {
    const named = units.slice(0, maxNamed).map(({ unit }) => unit);
    const rest = units.length - named.length;
    return format.list(rest > 0 ? [...named, t('units.more', { count: rest })] : named);
  };
}
