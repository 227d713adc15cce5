import type { RolloutFacts } from './advance-facts.ts';
import { inFlightLimit } from './rings.ts';
import { secondsAfter } from './step-times.ts';
import type { Freeze, Gates, Window } from './stored.ts';
import { freezeAt, nextFreeze, openingAt } from './windows.ts';

/**
 * A ring, as far as its duration depends on it. `left` members have not succeeded yet; they can be more than `size`,
 * the number of planned members, if VMs joined later.
 */
export interface ForecastRing {
  size: number;
  left: number;
  gates: Gates;
  windows: readonly Window[];
  longestSeconds: number;
  /** The highest number of members in one availability set; they are changed one after the other. */
  longestSet: number;
}

/** What holds for every ring. */
export interface ForecastTerms {
  stepsPerSecond: number;
  from: Date;
  freezes: readonly Freeze[];
  rollout: Pick<RolloutFacts, 'id' | 'kind'>;
}

/** Seconds until an agent fetches a goal state and reports, at best. */
const quickSeconds = 10;
/** Commands usually take this share of their timeouts. */
const usualPart = 5;

/**
 * Returns the span in which a rollout probably ends, if no gate halts: at best, every command is quick; usually, it
 * takes a fifth of its timeout. Null if no step fits into the windows.
 */
export function forecast(rings: readonly ForecastRing[], terms: ForecastTerms): { from: Date; to: Date } | null {
  const earliest = endOf(rings, terms, () => quickSeconds);
  const likely = endOf(rings, terms, (ring) => Math.max(60, Math.ceil(ring.longestSeconds / usualPart)));
  return earliest === null || likely === null
    ? null
    : { from: earliest, to: new Date(Math.max(earliest.getTime(), likely.getTime())) };
}

function endOf(
  rings: readonly ForecastRing[],
  terms: ForecastTerms,
  stepSeconds: (ring: ForecastRing) => number,
): Date | null {
  let at = terms.from;
  const filled = rings.filter(({ left }) => left > 0);
  for (const [index, ring] of filled.entries()) {
    const beginning = beginningAt(ring, terms, at);
    if (beginning === null) return null;
    const lasting = lastBeginning(beginning, ringSeconds(ring, terms.stepsPerSecond, stepSeconds(ring)), terms);
    at = secondsAfter(lasting, ring.gates.soakSeconds);
    const isLast = index === filled.length - 1;
    if (!isLast) at = secondsAfter(at, ring.gates.bakeSeconds);
  }
  return at;
}

/**
 * Returns when the first member of a ring may begin: inside a window, and in no freeze. Null if there is no such time.
 */
function beginningAt(ring: ForecastRing, { freezes, rollout }: ForecastTerms, from: Date): Date | null {
  let at = from;
  for (let looked = 0; looked <= freezes.length; looked += 1) {
    const opening = openingAt(ring.windows, ring.longestSeconds, at);
    if (!opening.isOpen && opening.at === null) return null;
    if (!opening.isOpen && opening.at !== null) at = opening.at;
    const freeze = freezeAt(freezes, rollout, at);
    if (freeze === null) return at;
    at = freeze.until;
  }
  return at;
}

/** Returns when members have begun for this many seconds. No member begins in a freeze. */
function lastBeginning(from: Date, seconds: number, { freezes, rollout }: ForecastTerms): Date {
  let [at, left] = [from, seconds];
  for (let looked = 0; looked <= freezes.length; looked += 1) {
    const next = nextFreeze(freezes, rollout, at);
    const end = secondsAfter(at, left);
    if (next === null || next >= end) return end;
    left -= (next.getTime() - at.getTime()) / 1_000;
    at = freezeAt(freezes, rollout, next)?.until ?? next;
  }
  return secondsAfter(at, left);
}

/**
 * Members begin in rounds of as many as may be in flight; a ramp doubles the rounds. Members of a set also wait for
 * each other’s soak.
 */
function ringSeconds(
  { size, left, gates, longestSet }: ForecastRing,
  stepsPerSecond: number,
  stepSeconds: number,
): number {
  const limit = inFlightLimit(gates.inFlight, size);
  let rounds = 0;
  let begun = 0;
  const healthy = Math.max(0, size - left);
  while (begun < left) {
    const room = gates.ramp ? Math.min(limit, 1 + healthy + begun) : limit;
    if (room === limit) {
      rounds += Math.ceil((left - begun) / limit);
      break;
    }
    begun += room;
    rounds += 1;
  }
  const queue = Math.min(longestSet, left) * (stepSeconds + gates.soakSeconds) - gates.soakSeconds;
  return Math.ceil(Math.max(rounds * stepSeconds, left / stepsPerSecond + stepSeconds, queue));
}
