import { defaultPeriods } from '#protocol/index.ts';
import { heartbeatReading, statusReading } from '#server/domain/reports/index.ts';
import { deadlineOf, graceSeconds, unresponsiveSeconds } from '#server/domain/verdicts/index.ts';
import type { ExtensionFacts } from './derive.ts';

/** When an agent last called, and its promise; null if it never called. */
export interface PresenceFacts {
  lastSeenAt: Date;
  nextExpectedAt: Date;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
}

type Ages = readonly [extensions: readonly ExtensionFacts[], presence: PresenceFacts | null, now: Date];

/**
 * The next time at which health, verdicts or staleness of a VM may change without a report: until then `derive` returns
 * the same. Null if nothing ages.
 */
export function nextAgeing(...[extensions, presence, now]: Ages): Date | null {
  const moving = extensions.flatMap((facts) => readingAges(facts, presence));
  return nearest([...agentAges(presence), ...moving, ...fixedAges(extensions, presence)], now);
}

/**
 * The same for times that no report postpones. The others hardly ever pass, because agents keep reporting; `findAged`
 * finds the VMs for which they did.
 */
export function nextFixedAgeing(...[extensions, presence, now]: Ages): Date | null {
  return nearest(fixedAges(extensions, presence), now);
}

function nearest(instants: readonly number[], now: Date): Date | null {
  const coming = instants.filter((instant) => instant > now.getTime());
  return coming.length === 0 ? null : new Date(Math.min(...coming));
}

/** The first millisecond that is more than so many seconds later. */
const justAfter = (from: Date, seconds: number): number => Math.floor(from.getTime() + seconds * 1000) + 1;

function agentAges(presence: PresenceFacts | null): number[] {
  if (presence === null) return [];
  const { lastSeenAt, nextExpectedAt } = presence;
  return [justAfter(nextExpectedAt, graceSeconds), justAfter(lastSeenAt, unresponsiveSeconds)];
}

/** Seconds after which a heartbeat should have been read again. */
const heartbeatDue = (presence: PresenceFacts | null): number =>
  (presence?.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds) + graceSeconds;

/** Of files that are read again and again. */
function readingAges(facts: ExtensionFacts, presence: PresenceFacts | null): number[] {
  const instants: number[] = [];
  const heartbeat = facts.optedIn ? heartbeatReading(facts) : null;
  if (heartbeat !== null) {
    const { readAt, ageSeconds } = heartbeat;
    instants.push(justAfter(readAt, heartbeatDue(presence)), justAfter(readAt, unresponsiveSeconds - ageSeconds));
  }
  const status = statusReading(facts);
  // A file that was too old when it was read is stale already; any other turns stale when it is not read again.
  if (status !== null && status.status !== 'success' && status.status !== 'error') {
    const period = presence?.statusSeconds ?? defaultPeriods.statusSeconds;
    instants.push(justAfter(status.readAt, period + graceSeconds));
  }
  return instants;
}

/** Of a declared goal, and of a first heartbeat that is expected. */
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
