import type { Definition, Reason, RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import type { RolloutKind } from '#server/domain/rollout-rules/words.ts';

/** The part of a rollout that decides whether it may start without members. */
interface Starting {
  kind: RolloutKind;
  definition: Pick<Definition, 'newcomers'>;
}

/**
 * Whether a rollout with this number of members has nothing to start. With `newcomers`, VMs can join later; an automatic
 * rollout gets its members that way too.
 */
export const hasNothingToStart = ({ kind, definition }: Starting, members: number): boolean =>
  members === 0 && definition.newcomers !== 'include' && kind !== 'automatic';

/** Returns why a plan cannot be started: the reason `plan_empty` with the numbers of VMs; none if it can. */
export function emptyPlanReasons(
  row: Starting,
  { matched, members, unchanged, refused }: Pick<RolloutPlan, 'matched' | 'members' | 'unchanged' | 'refused'>,
  now: Date,
): Reason[] {
  if (!hasNothingToStart(row, members)) return [];
  const count = Object.values(refused).reduce((sum, one) => sum + one.count, 0);
  return [{ code: 'plan_empty', params: { matched, unchanged, refused: count }, since: now.toISOString() }];
}
