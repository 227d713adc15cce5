'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { limitUnit } from './limit-unit.ts';
import type { QueueGroup } from './queue-groups.ts';

/** The timeouts of the commands, or of an execution. If all are equal, the timeout is shown once. */
export function Limits({ steps, limitSeconds }: Pick<QueueGroup, 'steps' | 'limitSeconds'>) {
  const { t } = useTranslation('common');
  const format = useFormat();
  const limits = [...steps.map((step) => step.limitSeconds), limitSeconds].filter((limit) => limit !== null);
  const different = [...new Set(limits)];
  if (different.length === 0) return '–';
  const words = (different.length === 1 ? different : limits).map((limit) => {
    const { unit, n } = limitUnit(limit);
    return t(`time.for.${unit}`, { n });
  });
  return <span className="tabular-nums">{format.list(words)}</span>;
}
