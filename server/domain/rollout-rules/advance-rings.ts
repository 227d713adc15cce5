import type { RingAdvance } from './advance-facts.ts';
import { isHalting, type Judged } from './judge-rings.ts';
import { secondsAfter } from './step-times.ts';

/** Returns a ring with the verdicts of this pass, and everything else as it is. */
export const keepRing = ({ facts, verdicts }: Judged): RingAdvance => ({
  ring: facts.ring,
  state: facts.state,
  verdicts,
  openedAt: facts.openedAt,
  metAt: facts.metAt,
  passedAt: facts.passedAt,
  overruled: facts.overruled,
});

/** While a rollout is paused, rings halt, and bakes start again, but nothing opens or passes. */
export function stopRing(judged: Judged): RingAdvance {
  const ring = keepRing(judged);
  if (isHalting(judged)) return { ...ring, state: 'halted' };
  if (ring.state === 'baking' && !judged.isMet) return { ...ring, state: 'open', metAt: null };
  return ring;
}

/** When a ring that bakes passes. */
export const bakeEnd = ({ facts, isLast }: Judged, metAt: Date): Date =>
  isLast || facts.size === 0 ? metAt : secondsAfter(metAt, facts.gates.bakeSeconds);

/** Whether a ring waits for nothing but a person's approval. */
export const lacksApproval = ({ facts }: Judged): boolean => facts.approval && !facts.isApproved && facts.size > 0;

/** Opens, bakes and passes rings one after the other (RO-9, RO-27). No gate halts. */
export function moveRings(judged: readonly Judged[], now: Date): RingAdvance[] {
  let isPassed = true;
  return judged.map((one) => {
    const ring = moveRing(one, isPassed, now);
    isPassed = ring.state === 'passed';
    return ring;
  });
}

function moveRing(judged: Judged, isTurn: boolean, now: Date): RingAdvance {
  const { facts, isMet } = judged;
  const ring = keepRing(judged);
  if (ring.state === 'passed') return ring;
  if (ring.state === 'waiting') {
    if (!(isTurn || facts.advanced) || lacksApproval(judged)) return ring;
    const isEmpty = facts.size === 0;
    return isEmpty ? pass(ring, now) : { ...ring, state: 'open', openedAt: ring.openedAt ?? now };
  }
  if (!isMet) return { ...ring, state: 'open', metAt: null };
  const metAt = ring.state === 'baking' && ring.metAt !== null ? ring.metAt : now;
  return now >= bakeEnd(judged, metAt) ? pass({ ...ring, metAt }, now) : { ...ring, state: 'baking', metAt };
}

const pass = (ring: RingAdvance, now: Date): RingAdvance => ({
  ...ring,
  state: 'passed',
  openedAt: ring.openedAt ?? now,
  metAt: ring.metAt ?? now,
  passedAt: now,
});
