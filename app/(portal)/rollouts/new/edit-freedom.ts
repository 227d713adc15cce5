import { movableRuns } from '#server/domain/rollout-rules/rings.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import type { SentRing } from './definition.ts';

/** What can change in a rollout that has started (RO-34). */
export interface EditFreedom {
  /** Whether the rollout is paused, so that gates can change and limits can rise. */
  isPaused: boolean;
  /** Whether the boundary of each ring can move. */
  canMove: readonly boolean[];
  /** Whether each ring can be given an approval, or lose it. */
  canAskApproval: readonly boolean[];
}

/** Returns what can change in a started rollout with these rings. */
export function editFreedom(
  { state, rings }: Pick<RolloutView, 'state'> & { rings: readonly Pick<RolloutView['rings'][number], 'state'>[] },
  sent: readonly SentRing[],
): EditFreedom {
  const isPaused = state === 'paused';
  const opened = rings.map((ring) => ring.state !== 'waiting');
  const filters = sent.map(({ filter }) => ({ filter: filter ?? null })) as Parameters<typeof movableRuns>[0];
  // The last ring of a run takes what is left, so its boundary stays.
  const movable = movableRuns(filters, opened).flatMap((run) => run.slice(0, -1));
  return {
    isPaused,
    canMove: sent.map((_, ring) => isPaused && movable.includes(ring)),
    canAskApproval: sent.map(({ approval = false }, ring) => isPaused || (!approval && opened[ring] === false)),
  };
}
