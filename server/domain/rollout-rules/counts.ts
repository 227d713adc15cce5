import type { RingCounts } from './stored.ts';
import { memberCounts, stepStates } from './words.ts';

const zero = Object.fromEntries(stepStates.map((state) => [state, 0])) as Record<(typeof stepStates)[number], number>;

/** Returns the counts of a ring none of whose members was reached. */
export const emptyCounts = (): RingCounts => ({
  ...zero,
  ...{ healthy: 0, pairs: 0, changedFirst: 0, controlFirst: 0, pairsBoth: 0, pairsNeither: 0, pairsVoid: 0, pairsOpen: 0 },
});

/** Returns the counts as pages and the API show them. They add up to `members`. */
export function shownCounts(
  members: number,
  counts: readonly RingCounts[],
): Record<(typeof memberCounts)[number] | 'members', number> {
  const sum = (...states: (typeof stepStates)[number][]) =>
    counts.reduce((total, of) => total + states.reduce((n, state) => n + of[state], 0), 0);
  const shown = {
    parked: sum('parked'),
    inFlight: sum('inFlight', 'retrying', 'reverting'),
    soaking: sum('soaking'),
    succeeded: sum('succeeded'),
    failed: sum('failed', 'stuck'),
    reverted: sum('reverted'),
    overtaken: sum('overtaken'),
    skipped: sum('skipped'),
    gone: sum('gone'),
    unreached: sum('unreached'),
  };
  const reached = Object.values(shown).reduce((total, n) => total + n, 0);
  return { members, queued: members - reached, ...shown };
}
