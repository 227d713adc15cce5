import { inFlightLimit } from './rings.ts';
import { secondsAfter } from './step-times.ts';
import type { Gates, Window } from './stored.ts';
import { openingAt } from './windows.ts';

/** A ring, as far as its duration depends on it. `left` members have not succeeded yet. */
export interface ForecastRing {
  size: number;
  left: number;
  gates: Gates;
  windows: readonly Window[];
  longestSeconds: number;
}

/** Seconds until an agent fetches a goal state and reports, at best. */
const quickSeconds = 10;
/** Commands usually take this share of their timeouts. */
const usualPart = 5;

/**
 * Returns the span in which a rollout probably ends, if no gate halts: at best, every command is quick; usually, it
 * takes a fifth of its timeout. Null if no step fits into the windows.
 */
export function forecast(
  rings: readonly ForecastRing[],
  { stepsPerSecond, from }: { stepsPerSecond: number; from: Date },
): { from: Date; to: Date } | null {
  const earliest = endOf(rings, stepsPerSecond, from, () => quickSeconds);
  const likely = endOf(rings, stepsPerSecond, from, (ring) => Math.max(60, Math.ceil(ring.longestSeconds / usualPart)));
  return earliest === null || likely === null ? null : { from: earliest, to: new Date(Math.max(earliest.getTime(), likely.getTime())) };
}

function endOf(
  rings: readonly ForecastRing[],
  stepsPerSecond: number,
  from: Date,
  stepSeconds: (ring: ForecastRing) => number,
): Date | null {
  let at = from;
  const filled = rings.filter(({ left }) => left > 0);
  for (const [index, ring] of filled.entries()) {
    const opening = openingAt(ring.windows, ring.longestSeconds, at);
    if (!opening.isOpen && opening.at === null) return null;
    if (!opening.isOpen && opening.at !== null) at = opening.at;
    at = secondsAfter(at, ringSeconds(ring, stepsPerSecond, stepSeconds(ring)));
    const isLast = index === filled.length - 1;
    if (!isLast) at = secondsAfter(at, ring.gates.bakeSeconds);
  }
  return at;
}

/** Members begin in rounds of as many as may be in flight; a ramp doubles the rounds. The last ones soak. */
function ringSeconds({ size, left, gates }: ForecastRing, stepsPerSecond: number, stepSeconds: number): number {
  const limit = inFlightLimit(gates.inFlight, size);
  let rounds = 0;
  let begun = 0;
  const healthy = size - left;
  while (begun < left) {
    const room = gates.ramp ? Math.min(limit, 1 + healthy + begun) : limit;
    if (room === limit) {
      rounds += Math.ceil((left - begun) / limit);
      break;
    }
    begun += room;
    rounds += 1;
  }
  return Math.ceil(Math.max(rounds * stepSeconds, left / stepsPerSecond + stepSeconds)) + gates.soakSeconds;
}
