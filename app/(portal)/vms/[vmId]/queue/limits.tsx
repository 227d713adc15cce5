'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { limitUnit } from './limit-unit.ts';
import type { QueueGroup } from './queue-groups.ts';

/** The timeouts of the commands. If all are equal, the timeout is shown once. */
export function Limits({ steps }: Pick<QueueGroup, 'steps'>) {
  const { t } = useTranslation('common');
  const format = useFormat();
  const limits = steps.flatMap(({ limitSeconds }) => (limitSeconds === null ? [] : [limitSeconds]));
  const different = [...new Set(limits)];
  if (different.length === 0) return '–';
  const words = (different.length === 1 ? different : limits).map((limit) => {
    const { unit, n } = limitUnit(limit);
    return t(`time.for.${unit}`, { n });
  });
  return <span className="tabular-nums">{format.list(words)}</span>;
}
