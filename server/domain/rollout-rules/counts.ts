import type { RingCounts } from './stored.ts';
import {
  decidedSteps,
  exemptSteps,
  type MemberCount,
  memberCounts,
  openSteps,
  type PairResult,
  type StepState,
  stepStates,
} from './words.ts';

const pairCount = {
  'changed-first': 'changedFirst',
  'control-first': 'controlFirst',
  both: 'pairsBoth',
  neither: 'pairsNeither',
  void: 'pairsVoid',
} as const satisfies Record<PairResult, keyof RingCounts>;

/** Returns the counts of a ring in which no step began. */
export function emptyCounts(): RingCounts {
  const states = Object.fromEntries(stepStates.map((state) => [state, 0])) as Record<StepState, number>;
  const pairs = {
    pairs: 0,
    changedFirst: 0,
    controlFirst: 0,
    pairsBoth: 0,
    pairsNeither: 0,
    pairsVoid: 0,
    pairsOpen: 0,
  };
  return { ...states, ...pairs, healthy: 0 };
}

const isHealthy = (state: StepState | null): boolean => state === 'soaking' || state === 'succeeded';
const isBefore = (state: StepState | null): boolean => state === 'inFlight' || state === 'retrying';

/** Moves one member from a state to another; null is a member without a step. Every member is healthy once at most. */
export function moveCount(counts: RingCounts, from: StepState | null, to: StepState | null): RingCounts {
  const moved = { ...counts };
  if (from !== null) moved[from] -= 1;
  if (to !== null) moved[to] += 1;
  if (isHealthy(to) && !isHealthy(from)) moved.healthy += 1;
  // A VM that does not stay healthy is counted again when it is healthy again.
  else if (isHealthy(from) && isBefore(to)) moved.healthy -= 1;
  return moved;
}

/** Adds a pair that is being watched. */
export const openPair = (counts: RingCounts): RingCounts => ({
  ...counts,
  pairs: counts.pairs + 1,
  pairsOpen: counts.pairsOpen + 1,
});

/** Notes how a watched pair was resolved. */
export const resolvePair = (counts: RingCounts, result: PairResult): RingCounts => ({
  ...counts,
  pairsOpen: counts.pairsOpen - 1,
  [pairCount[result]]: counts[pairCount[result]] + 1,
});

const sumOf = (counts: RingCounts, states: readonly StepState[]): number =>
  states.reduce((sum, state) => sum + counts[state], 0);

/** Members whose step began and is not decided. */
export const openOf = (counts: RingCounts): number => sumOf(counts, openSteps);
/** Members that no gate counts. */
export const exemptOf = (counts: RingCounts): number => sumOf(counts, exemptSteps);
/** Failed members. A step that is being reverted has failed. */
export const failedOf = (counts: RingCounts): number => sumOf(counts, ['failed', 'reverting', 'reverted', 'stuck']);
/** Members that gates count as decided. */
export const decidedOf = (counts: RingCounts): number => sumOf(counts, decidedSteps) + counts.reverting;
/** Members that are published and not yet healthy, and members that wait for their next attempt. */
export const inFlightOf = (counts: RingCounts): number => sumOf(counts, ['inFlight', 'retrying', 'reverting']);
/** Members whose turn has not come, and members that were recalled. */
export const queuedOf = (size: number, counts: RingCounts): number =>
  size - sumOf(counts, stepStates) + counts.recalled;
/** Pairs whose outcome counts. */
export const resolvedPairs = ({ changedFirst, controlFirst, pairsBoth, pairsNeither }: RingCounts): number =>
  changedFirst + controlFirst + pairsBoth + pairsNeither;

/** Adds the counts of several rings. */
export function addCounts(all: readonly RingCounts[]): RingCounts {
  const sum = { ...emptyCounts() } as Record<keyof RingCounts, number>;
  for (const counts of all) for (const name of Object.keys(sum) as (keyof RingCounts)[]) sum[name] += counts[name];
  return sum;
}

/** Returns the counts that pages and the API show. They always add up to `members`. */
export function shownCounts(
  members: number,
  all: readonly RingCounts[],
): { members: number } & Record<MemberCount, number> {
  const counts = addCounts(all);
  const shown = Object.fromEntries(memberCounts.map((name) => [name, 0])) as Record<MemberCount, number>;
  for (const name of memberCounts) if (name !== 'queued') shown[name] = counts[name];
  shown.inFlight = inFlightOf(counts);
  shown.failed = counts.failed + counts.stuck;
  shown.queued = queuedOf(members, counts);
  return { members, ...shown };
}
