'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownVerdict } from '../rollout-data.ts';

/** Returns a function that says what a gate's verdict is based on, with its numbers. */
export function useVerdictWords(): (verdict: ShownVerdict) => string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return ({ code, params }) => {
    const numbers = Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'number' ? format.number(value) : value,
    ]);
    return (t as unknown as (key: string, values: Record<string, unknown>) => string)(
      `gate.says.${code}`,
      Object.fromEntries(numbers),
    );
  };
}
