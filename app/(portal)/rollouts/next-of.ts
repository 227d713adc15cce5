import type { ListedRollout } from './rollout-data.ts';

/** What a person does next about a rollout in the list. `planAgain` is done there; the others open a page. */
export type NextAct = 'showFailed' | 'planAgain' | 'reviewPlan' | 'reviewRing' | 'review';

const plannedAgain = ['plan_moved_on', 'plan_failed', 'plan_rejected'];

/** Returns what comes next for a rollout that needs a person. Readers who may not act can only look at failures. */
export function nextOf(
  { needsPerson, state, why, counts }: Pick<ListedRollout, 'needsPerson' | 'state' | 'why' | 'counts'>,
  mayAct: boolean,
): NextAct | null {
  if (!needsPerson) return null;
  if (counts.failed > 0) return 'showFailed';
  if (!mayAct) return null;
  const isNotStarted = state === 'draft' || state === 'planned';
  if (isNotStarted && why.some(({ code }) => plannedAgain.includes(code))) return 'planAgain';
  if (state === 'planned') return 'reviewPlan';
  return state === 'running' ? 'reviewRing' : 'review';
}
