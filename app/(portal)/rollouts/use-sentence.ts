'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { decidedOf, type ListedRollout } from './rollout-data.ts';
import { useReason } from './use-reason.ts';

/** Returns a function that says in one sentence why a rollout is in its current state, or what it does. */
export function useSentence(): (row: ListedRollout) => string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const reasonOf = useReason();
  return (row) => {
    const { state, why, next, counts, rings, needsPerson } = row;
    const first = why[0] ?? (state === 'running' || state === 'scheduled' ? next : null);
    if (first !== null && first !== undefined) return reasonOf(first, rings);
    const values = {
      count: counts.members,
      decided: format.number(decidedOf(counts)),
      succeeded: format.number(counts.succeeded),
    };
    if (state === 'planned' && counts.members === 0) return t('says.nothing');
    if (state === 'finished' && counts.members === 0) return t('says.finished.nothing');
    if (state === 'planned') return needsPerson ? t('says.needsApproval') : t('says.planned', values);
    if (state === 'paused') return t('says.stopped');
    return t(`says.${state}`, values);
  };
}
