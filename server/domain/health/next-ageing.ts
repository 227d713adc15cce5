import { defaultPeriods } from '#protocol/index.ts';
import {
  deadlineOf,
  graceSeconds,
  heartbeatReading,
  statusReading,
  unresponsiveSeconds,
} from '#server/domain/reports/index.ts';
import type { ExtensionFacts } from './derive.ts';

/** When an agent was last heard, and what it promised; null where there never was one. */
export interface PresenceFacts {
  lastSeenAt: Date;
  nextExpectedAt: Date;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
}

/**
 * The next moment at which health, verdicts or staleness of a VM may become others although nobody says anything:
 * until then `derive` gives what it gives now. Null where nothing ages any more.
 */
export function nextAgeing(
  extensions: readonly ExtensionFacts[],
  presence: PresenceFacts | null,
  now: Date,
): Date | null {
  const instants = [...agentAges(presence), ...extensions.flatMap((facts) => extensionAges(facts, presence))];
  const coming = instants.filter((instant) => instant > now.getTime());
  return coming.length === 0 ? null : new Date(Math.min(...coming));
}

/** The first millisecond that is more than so many seconds after. */
const beyond = (from: Date, seconds: number): number => Math.floor(from.getTime() + seconds * 1000) + 1;

function agentAges(presence: PresenceFacts | null): number[] {
  if (presence === null) return [];
  const { lastSeenAt, nextExpectedAt } = presence;
  return [beyond(nextExpectedAt, graceSeconds), beyond(lastSeenAt, unresponsiveSeconds)];
}

function extensionAges(facts: ExtensionFacts, presence: PresenceFacts | null): number[] {
  const instants = [beyond(deadlineOf({ ...facts, state: facts.goal }), 0)];
  if (facts.optedIn) {
    const due = (presence?.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds) + graceSeconds;
    const reading = heartbeatReading(facts);
    if (reading !== null) {
      instants.push(beyond(reading.readAt, due), beyond(reading.readAt, unresponsiveSeconds - reading.ageSeconds));
    } else if (facts.handlerState?.state === 'enabled' && facts.handlerAt !== null) {
      instants.push(beyond(facts.handlerAt, due));
    }
  }
  const status = statusReading(facts);
  // A file that was too old when it was read is stale already; another one turns stale when nobody reads it again.
  if (status !== null && status.status !== 'success' && status.status !== 'error') {
    const period = presence?.statusSeconds ?? defaultPeriods.statusSeconds;
    instants.push(beyond(status.readAt, period + graceSeconds));
  }
  return instants;
}
