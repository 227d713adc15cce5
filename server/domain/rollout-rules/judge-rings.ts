import type { RingFacts } from './advance-facts.ts';
import { comparedRings, isDone, isUnreached, type JudgedRing, judgeGates } from './gates.ts';
import type { Reason, RingVerdict } from './stored.ts';

/** A ring with the verdicts of one pass. */
export interface Judged {
  facts: RingFacts;
  verdicts: RingVerdict[];
  /** Whether all gates say pass, so that the ring passes after its bake. */
  isMet: boolean;
  /** Whether the ring has nothing to bake for: no later ring has members. */
  isLast: boolean;
}

/** Evaluates all gates of all rings that opened, in one pass (RO-23). Rings that passed are judged too. */
export function judgeRings(rings: readonly RingFacts[]): Judged[] {
  const compared = comparedRings(rings);
  return rings.map((facts, index) => {
    const isLast = rings.slice(index + 1).every(({ size }) => size === 0);
    const ring = { ...facts, isLast };
    const verdicts = facts.state === 'waiting' ? [] : judgeGates(ring, compared);
    return { facts, verdicts, isMet: isMet(ring, verdicts), isLast };
  });
}

function isMet(ring: JudgedRing, verdicts: readonly RingVerdict[]): boolean {
  if (ring.size === 0) return true;
  if (isUnreached(ring) || verdicts.some(({ verdict }) => verdict !== 'pass')) return false;
  const isGated = ring.gates.success !== null && ring.overruled?.success !== true;
  return isGated || isDone(ring);
}

/** Returns the reasons for which gates halt, in the order of rings. */
export const haltsOf = (judged: readonly Judged[], now: Date): Reason[] =>
  judged.flatMap(({ facts, verdicts }) =>
    verdicts
      .filter(({ verdict }) => verdict === 'halt')
      .map(({ code, params }) => ({ code, ring: facts.ring, params, since: now.toISOString() })),
  );

export const isHalting = ({ verdicts }: Judged): boolean => verdicts.some(({ verdict }) => verdict === 'halt');
