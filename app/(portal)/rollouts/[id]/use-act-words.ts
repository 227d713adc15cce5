'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownRollout } from '../rollout-data.ts';
import { haltsOf, type ShownAct } from './shown-acts.ts';

/** Returns a function that names an act, as its button does. */
export function useActWords(rollout: ShownRollout): (act: ShownAct) => string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (act) => {
    const { members } = rollout.counts;
    if (act.ring !== undefined) return t(`act.${act.name}`, { ring: rollout.rings[act.ring]?.name ?? '' });
    if (act.name === 'start') return t('act.start', { count: members, n: format.number(members) });
    if (act.name === 'resume') return t(haltsOf(rollout).length > 0 ? 'act.resumeDespite' : 'act.resume');
    if (act.name === 'plan') return t(rollout.plan === null ? 'act.plan' : 'act.planAgain');
    return t(`act.${act.name}`);
  };
}
