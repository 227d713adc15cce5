import type { Overruled } from './advance-facts.ts';
import { resolvedPairs } from './counts.ts';
import type { RingCounts } from './stored.ts';

/** Pairs of which both, exactly one or neither VM failed. */
export interface PairCounts {
  changedFirst: number;
  controlFirst: number;
  resolved: number;
}

function factorial(n: number): bigint {
  let product = 1n;
  for (let factor = 2; factor <= n; factor += 1) product *= BigInt(factor);
  return product;
}

/**
 * Whether pairs show that changed VMs fail first more often than chance allows (RO-25): the sequential sign test with a
 * uniform mixture, at every look. `rings` is the number of rings that the gate judges.
 */
export function isSignificant(changedFirst: number, controlFirst: number, rings: number): boolean {
  if (changedFirst <= controlFirst) return false;
  const pairs = changedFirst + controlFirst;
  const evidence = 2n ** BigInt(pairs) * factorial(changedFirst) * factorial(controlFirst);
  return evidence >= 10n * BigInt(rings) * factorial(pairs + 1);
}

/** Whether changed VMs are worse: by the test, and by at least the effect that matters. */
export function isWorse(
  { changedFirst, controlFirst, resolved }: PairCounts,
  rings: number,
  minEffectShare: number,
): boolean {
  const effect = BigInt(changedFirst - controlFirst) * 10_000n;
  return effect >= BigInt(minEffectShare) * BigInt(resolved) && isSignificant(changedFirst, controlFirst, rings);
}

/** Returns the pairs that count: those since the comparison was last overruled. */
export const pairsOf = (counts: RingCounts, overruled: Overruled | null): PairCounts => ({
  changedFirst: counts.changedFirst - (overruled?.changedFirst ?? 0),
  controlFirst: counts.controlFirst - (overruled?.controlFirst ?? 0),
  resolved: resolvedPairs(counts) - (overruled?.pairs ?? 0),
});
