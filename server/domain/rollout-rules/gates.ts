import type { Overruled, RingFacts } from './advance-facts.ts';
import { isWorse, pairsOf } from './compare.ts';
import { decidedOf, exemptOf, failedOf, openOf, queuedOf } from './counts.ts';
import { shareUp } from './rings.ts';
import type { RingVerdict } from './stored.ts';
import type { GateName } from './words.ts';

/** The facts that a ring's gates judge. */
export type JudgedRing = Pick<RingFacts, 'size' | 'counts' | 'gates' | 'overruled' | 'candidates'> & {
  /** Whether no later ring has members, so that this ring protects none. */
  isLast: boolean;
};

/** At most this many pairs are watched in a ring. */
export const maxPairs = 1_000;

/** Returns the number of rings that the comparison judges: those that have or had candidates for controls (RO-25). */
export const comparedRings = (rings: readonly Pick<RingFacts, 'gates' | 'candidates' | 'counts'>[]): number =>
  rings.filter(({ gates, ...ring }) => gates.compare !== null && isCompared(ring)).length;

/** Whether a ring has candidates for controls, or had some: its pairs count until the end. */
const isCompared = ({ candidates, counts }: Pick<RingFacts, 'candidates' | 'counts'>): boolean =>
  candidates > 0 || counts.pairs > 0;

/**
 * Whether every member of the ring is exempt, so that nothing is known about the change. The last ring only waits while
 * members are parked.
 */
export const isUnreached = ({ size, counts, isLast }: Pick<JudgedRing, 'size' | 'counts' | 'isLast'>): boolean =>
  size > 0 && exemptOf(counts) === size && (!isLast || counts.parked > 0);

/** Whether no member of the ring waits for its turn or is open. Parked members hold nothing up. */
export const isDone = ({ size, counts }: Pick<RingFacts, 'size' | 'counts'>): boolean =>
  queuedOf(size, counts) === 0 && openOf(counts) === 0;

/** Returns the verdicts of a ring's gates (RO-21, RO-22, RO-25, RO-26). `rings`: how many rings are compared. */
export function judgeGates(ring: JudgedRing, rings: number): RingVerdict[] {
  const { errors, success, compare } = ring.gates;
  return [
    ...(errors === null ? [] : [judgeErrors(ring, errors)]),
    ...(success === null ? [] : [judgeSuccess(ring, success)]),
    ...(compare === null ? [] : [judgeComparison(ring, compare, rings)]),
  ];
}

type Of<Gate extends GateName> = NonNullable<RingFacts['gates'][Gate]>;

const percentOf = (share: number): string => String(share / 100);

function judgeErrors({ counts, overruled }: JudgedRing, errors: Of<'errors'>): RingVerdict {
  const decided = decidedOf(counts) - (overruled?.decided ?? 0);
  const failed = failedOf(counts) - (overruled?.failed ?? 0);
  if ('count' in errors) {
    const verdict = failed >= errors.count ? 'halt' : 'pass';
    return { gate: 'errors', verdict, code: 'errors_count', params: { failed, decided, limit: String(errors.count) } };
  }
  const { share, atLeast } = errors;
  const verdict = decided >= atLeast && failed * 10_000 > share * decided ? 'halt' : 'pass';
  const params = { failed, decided, limit: percentOf(share), atLeast };
  return { gate: 'errors', verdict, code: 'errors_percent', params };
}

function judgeSuccess(ring: JudgedRing, { share, atLeast }: Of<'success'>): RingVerdict {
  const { size, counts, overruled } = ring;
  const reachable = size - exemptOf(counts);
  const { succeeded } = counts;
  const needed = Math.max(shareUp(reachable, share), Math.min(atLeast, reachable));
  const params = { succeeded, needed, members: reachable, failed: failedOf(counts), percent: percentOf(share) };
  const verdict = (word: RingVerdict['verdict'], code: string): RingVerdict => ({
    gate: 'success',
    verdict: word,
    code,
    params,
  });
  if (size === 0) return verdict('pass', 'empty');
  if (overruled?.success === true) return verdict('pass', 'overruled');
  if (isUnreached(ring)) return verdict('wait', 'nobody_reached');
  if (succeeded >= needed) return verdict('pass', 'success_percent');
  const isReachable = reachable - failedOf(counts) >= needed;
  return isReachable ? verdict('wait', 'success_percent') : verdict('halt', 'success_unreachable');
}

function judgeComparison(ring: JudgedRing, compare: Of<'compare'>, rings: number): RingVerdict {
  const { size, counts, overruled, candidates } = ring;
  const { changedFirst, controlFirst, resolved } = pairsOf(counts, overruled);
  const possible = Math.min(size - exemptOf(counts), Math.max(candidates, counts.pairs), maxPairs);
  const needed = Math.min(compare.minPairs, possible);
  const params = { changedFirst, controlFirst, pairs: resolved, needed };
  const verdict = (word: RingVerdict['verdict'], code: string): RingVerdict => ({
    gate: 'compare',
    verdict: word,
    code,
    params,
  });
  if (!isCompared(ring)) return verdict('pass', 'compare_none');
  if (isWorse({ changedFirst, controlFirst, resolved }, rings, compare.minEffectShare))
    return verdict('halt', 'worse_than_control');
  if (resolved >= needed) {
    const failAlike = controlFirst + counts.pairsBoth > 0 && controlFirst >= changedFirst;
    return verdict('pass', failAlike ? 'compare_alike' : 'compare_enough');
  }
  if (!isDone(ring) || counts.pairsOpen > 0) return verdict('wait', 'pairs_too_few');
  const isOverruled = overruled?.compare === true;
  return compare.onTooFew === 'goOn' || isOverruled
    ? verdict('pass', 'pairs_too_few')
    : verdict('halt', 'pairs_too_few_paused');
}

/** Returns from which counts the gates of a ring count after a person overruled these verdicts (RO-29). */
export function overrule(
  { counts, overruled }: Pick<JudgedRing, 'counts' | 'overruled'>,
  gates: readonly GateName[],
): Overruled {
  const before = overruled ?? unchanged;
  const pairs = pairsOf(counts, null);
  return {
    ...before,
    ...(gates.includes('errors') && { decided: decidedOf(counts), failed: failedOf(counts) }),
    ...(gates.includes('success') && { success: true }),
    ...(gates.includes('compare') && {
      changedFirst: pairs.changedFirst,
      controlFirst: pairs.controlFirst,
      pairs: pairs.resolved,
      compare: true,
    }),
  };
}

const unchanged: Overruled = { decided: 0, failed: 0, success: false, changedFirst: 0, controlFirst: 0, pairs: 0 };
