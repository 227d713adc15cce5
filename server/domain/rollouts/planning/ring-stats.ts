import type { RingPlan, RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';
import type { EvaluatedMember } from './evaluate-members.ts';

/** Returns the figures of one ring in the plan. */
export function ringStats(name: string, members: readonly EvaluatedMember[], inFlight: number): RingPlan {
  const stats = { bytes: 0, restarts: 0, silent: 0, longestSeconds: 0 };
  const sets = new Map<string, number>();
  for (const { preview, set, silent } of members) {
    stats.bytes += preview.bytes;
    if (preview.restarts) stats.restarts += 1;
    if (silent) stats.silent += 1;
    if (preview.seconds > stats.longestSeconds) stats.longestSeconds = preview.seconds;
    if (set !== null) sets.set(set, (sets.get(set) ?? 0) + 1);
  }
  const longest = sets.values().reduce((most, size) => Math.max(most, size), 0);
  return {
    ...{ name, size: members.length, kinds: countKinds(members), inFlight, ...stats },
    sets: { touched: sets.size, longest },
  };
}

/** Counts members by the kind of the change. */
export function countKinds(members: readonly EvaluatedMember[]): RolloutPlan['kinds'] {
  const kinds: Partial<Record<MemberKind, number>> = {};
  for (const { preview } of members) kinds[preview.kind] = (kinds[preview.kind] ?? 0) + 1;
  return kinds;
}

/** Counts members whose change cannot be reverted, by the reason, and VMs that a revert leaves alone. */
export function countNotRevertible(
  members: readonly EvaluatedMember[],
  overtaken: number,
): RolloutPlan['notRevertible'] {
  const reasons: Record<string, number> = overtaken > 0 ? { overtaken } : {};
  for (const { preview } of members) {
    const reason = preview.notRevertible;
    if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  return reasons;
}
