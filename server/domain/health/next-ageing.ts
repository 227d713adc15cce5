import { defaultPeriods } from '#protocol/index.ts';
import { heartbeatReading, statusReading } from '#server/domain/reports/index.ts';
import { deadlineOf, graceSeconds, unresponsiveSeconds } from '#server/domain/verdicts/index.ts';
import type { ExtensionFacts } from './derive.ts';

/** When an agent last called, by when it announced its next call, and the periods that it announced. */
export interface PresenceFacts {
  lastSeenAt: Date;
  nextExpectedAt: Date;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
}

type Ages = readonly [extensions: readonly ExtensionFacts[], presence: PresenceFacts | null, now: Date];

/**
 * Returns the next time at which the health, a heartbeat verdict or the staleness of a status may change without a
 * report; until then, `derive` returns the same result. Null if nothing changes with time.
 */
export function nextAgeing(...[extensions, presence, now]: Ages): Date | null {
  const moving = extensions.flatMap((facts) => readingAges(facts, presence));
  return nearest([...agentAges(presence), ...moving, ...fixedAges(extensions, presence)], now);
}

/**
 * Like `nextAgeing`, but only for times that reports do not postpone. The other times are rarely reached, because each
 * report postpones them; `markAged` finds the VMs that no longer report in time.
 */
export function nextFixedAgeing(...[extensions, presence, now]: Ages): Date | null {
  return nearest(fixedAges(extensions, presence), now);
}

function nearest(instants: readonly number[], now: Date): Date | null {
  const coming = instants.filter((instant) => instant > now.getTime());
  return coming.length === 0 ? null : new Date(Math.min(...coming));
}

/** Returns the first millisecond that is more than `seconds` after `from`. */
const justAfter = (from: Date, seconds: number): number => Math.floor(from.getTime() + seconds * 1000) + 1;

function agentAges(presence: PresenceFacts | null): number[] {
  if (presence === null) return [];
  const { lastSeenAt, nextExpectedAt } = presence;
  return [justAfter(nextExpectedAt, graceSeconds), justAfter(lastSeenAt, unresponsiveSeconds)];
}

/** Seconds after which the next heartbeat reading is overdue. */
const heartbeatDue = (presence: PresenceFacts | null): number =>
  (presence?.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds) + graceSeconds;

/** Returns the times at which readings of heartbeat and status files become old or overdue. */
function readingAges(facts: ExtensionFacts, presence: PresenceFacts | null): number[] {
  const instants: number[] = [];
  const heartbeat = facts.optedIn ? heartbeatReading(facts) : null;
  if (heartbeat !== null) {
    const { readAt, ageSeconds } = heartbeat;
    instants.push(justAfter(readAt, heartbeatDue(presence)), justAfter(readAt, unresponsiveSeconds - ageSeconds));
  }
  const status = statusReading(facts);
  // A status other than `success` and `error` becomes stale if it is not read again in time.
  if (status !== null && status.status !== 'success' && status.status !== 'error') {
    const period = presence?.statusSeconds ?? defaultPeriods.statusSeconds;
    instants.push(justAfter(status.readAt, period + graceSeconds));
  }
  return instants;
}

/** Returns the deadlines of goals, and the times at which a first heartbeat is overdue. */
function fixedAges(extensions: readonly ExtensionFacts[], presence: PresenceFacts | null): number[] {
  return extensions.flatMap((facts) => {
    const instants = [justAfter(deadlineOf({ ...facts, state: facts.goal }), 0)];
    const { optedIn, handlerState, handlerAt } = facts;
    if (optedIn && heartbeatReading(facts) === null && handlerState?.state === 'enabled' && handlerAt !== null) {
      instants.push(justAfter(handlerAt, heartbeatDue(presence)));
    }
    return instants;
  });
}
