import type { Advance, AdvanceInput, RingAdvance, RingFacts } from './advance-facts.ts';
import { inFlightOf, queuedOf } from './counts.ts';
import { inFlightLimit } from './rings.ts';
import { earliest } from './step-times.ts';
import type { Reason } from './stored.ts';
import { catchingUp } from './waiting.ts';
import { freezeAt, nextFreeze, openingAt } from './windows.ts';

/** Members of a ring that may begin as soon as there is room for them. */
export const readyOf = ({ size, counts, ready }: RingFacts): number => queuedOf(size, counts) + ready;

/** Whether members of the ring may begin, or why not. */
type Beginning = { mayBegin: NonNullable<Advance['mayBegin']> } | { reason: Reason };

/**
 * Returns the first ring in order whose members may begin, and otherwise why none may (RO-11, RO-12, RO-35, RO-36).
 * Without reasons, no member waits for its turn.
 */
export function findBeginning(
  input: AdvanceInput,
  rings: readonly RingAdvance[],
): { mayBegin: Advance['mayBegin']; reasons: Reason[] } {
  const waiting = input.rings.filter((ring, index) => rings[index]?.state !== 'waiting' && readyOf(ring) > 0);
  if (waiting.length === 0) return { mayBegin: null, reasons: [] };
  const common = commonReason(input);
  if (common !== null) return { mayBegin: null, reasons: [common] };
  const reasons: Reason[] = [];
  for (const ring of waiting) {
    const beginning = beginRing(ring, input);
    if ('mayBegin' in beginning) return { mayBegin: beginning.mayBegin, reasons: [] };
    reasons.push(beginning.reason);
  }
  return { mayBegin: null, reasons };
}

/** What keeps the members of every ring from beginning. */
function commonReason(input: AdvanceInput): Reason | null {
  const { rollout, freezes, now, nextBatchAt, isBehind, portalInFlight, maxPortalInFlight } = input;
  const freeze = freezeAt(freezes, rollout, now);
  if (freeze !== null) return { code: 'freeze', params: { reason: freeze.reason }, at: freeze.until.toISOString() };
  if (isBehind) return catchingUp(now);
  if (nextBatchAt !== null && nextBatchAt > now) return { code: 'rate', at: nextBatchAt.toISOString() };
  if (portalInFlight >= maxPortalInFlight)
    return { code: 'in_flight_full', params: { inFlight: portalInFlight, limit: maxPortalInFlight } };
  return null;
}

function beginRing(ring: RingFacts, input: AdvanceInput): Beginning {
  const { now, freezes, rollout } = input;
  const opening = openingAt(ring.windows, ring.longestSeconds, now);
  if (!opening.isOpen)
    return { reason: { code: 'window_closed', ring: ring.ring, ...(opening.at && { at: opening.at.toISOString() }) } };
  const { room, code, limit } = roomIn(ring);
  const inFlight = placesIn(ring);
  if (room <= 0) return { reason: { code, ring: ring.ring, params: { inFlight, limit } } };
  const ends = [opening.until, nextFreeze(freezes, rollout, now)].filter((end) => end !== null);
  const [first, ...others] = ends;
  const until = first === undefined ? null : earliest(first, ...others);
  const count = Math.min(room, readyOf(ring), input.maxPortalInFlight - input.portalInFlight);
  return { mayBegin: { ring: ring.ring, room: count, until } };
}

/** Members that have a place in flight. Steps on hold have none. */
const placesIn = ({ counts, held }: RingFacts): number => Math.max(0, inFlightOf(counts) - held);

/** Returns how many more members of the ring may be in flight, and which limit that is. */
export function roomIn(ring: RingFacts): { room: number; code: 'in_flight_full' | 'ramp'; limit: number } {
  const { size, counts, gates } = ring;
  const limit = inFlightLimit(gates.inFlight, size);
  const ramp = gates.ramp ? 1 + counts.healthy : limit;
  const code = ramp < limit ? 'ramp' : 'in_flight_full';
  return { room: Math.min(limit, ramp) - placesIn(ring), code, limit: Math.min(limit, ramp) };
}
