import { and, eq, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse, extensions, handlerVersions, holds, laneTimes } from '#db/schema/index.ts';
import { defaultPeriods, type HandlerReport } from '#protocol/index.ts';
import { heartbeatReading, statusReading } from '#server/domain/reports/index.ts';
import {
  type AgentStatus,
  deadlineOf,
  type ExtensionHealth,
  evaluateExtensionHealth,
  type HealthCause,
  type HeartbeatVerdict,
  hasFailed,
  heartbeatVerdict,
  type PauseFacts,
  type Pauses,
  staleFor,
  standsStill,
} from '#server/domain/verdicts/index.ts';
import { failedPart } from './failed-part.ts';
import { withWaits } from './waits-until.ts';

const reportedVersion = alias(handlerVersions, 'reported_version');
const optsIn = (version: typeof handlerVersions | typeof reportedVersion) =>
  sql`(${version.manifest} #>> '{handlerManifest,reportHeartbeat}')::boolean`;

const { handlerState, status } = extensionLatest;
const part = failedPart('extension_latest.status', 'extension_pulse.status_word');

/** The columns from which health is derived, with only the relevant parts of documents. */
export const healthColumns = {
  vmId: extensions.vmId,
  name: extensions.name,
  handler: extensions.handler,
  goalVersion: extensions.version,
  goal: extensions.state,
  goalSequenceNumber: extensions.sequenceNumber,
  dependsOn: extensions.dependsOn,
  timeouts: extensions.timeouts,
  commands: extensions.commands,
  changedAt: extensions.changedAt,
  deliveredAt: extensions.deliveredAt,
  heldAt: holds.since,
  pastHolds: holds.past,
  laneTakenAt: laneTimes.takenAt,
  laneTimes: laneTimes.past,
  handlerState: sql<HandlerReport | null>`${handlerState}::jsonb - 'output'`,
  handlerAt: extensionLatest.handlerAt,
  heartbeatStatus: extensionPulse.heartbeatStatus,
  heartbeatReadAt: extensionPulse.heartbeatReadAt,
  heartbeatAgeSeconds: extensionPulse.heartbeatAgeSeconds,
  /** Message id of the status. */
  messageId: sql<string | null>`${status} #>> '{message,id}'`,
  /** Whether a substatus has an error, and the message id of the first such substatus. */
  partFailed: sql<boolean>`${sql.raw(part)} is not null`,
  partMessageId: sql<string | null>`${sql.raw(part)} #>> '{message,id}'`,
  statusWord: extensionPulse.statusWord,
  statusSequence: extensionPulse.statusSequence,
  statusReadAt: extensionPulse.statusReadAt,
  statusAgeSeconds: extensionPulse.statusAgeSeconds,
  concludedAt: extensionPulse.concludedAt,
  concludedWith: extensionPulse.concludedWith,
  /**
   * Whether the manifest of the running version opts in to heartbeats. While the running version is unknown, the
   * manifest of the goal's version decides.
   */
  optedIn: sql<boolean>`coalesce(${optsIn(reportedVersion)}, ${optsIn(handlerVersions)}, false)`,
};

/**
 * Selects extensions with their reported state, sorted by VM and name. `where` must include all extensions of a VM,
 * because they wait for each other.
 */
export async function selectExtensions(db: Database | Transaction, where: SQL): Promise<ExtensionFacts[]> {
  const rows = await readExtensions(db, where);
  return [...Map.groupBy(rows, ({ vmId }) => vmId).values()].flatMap(withWaits);
}

function readExtensions(db: Database | Transaction, where: SQL) {
  return db
    .select(healthColumns)
    .from(extensions)
    .leftJoin(extensionPulse, and(eq(extensionPulse.vmId, extensions.vmId), eq(extensionPulse.name, extensions.name)))
    .leftJoin(
      extensionLatest,
      and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, extensions.name)),
    )
    .leftJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, extensions.handler), eq(handlerVersions.version, extensions.version)),
    )
    .leftJoin(
      reportedVersion,
      and(
        eq(reportedVersion.handler, extensions.handler),
        eq(reportedVersion.version, sql`${handlerState} ->> 'version'`),
      ),
    )
    .leftJoin(holds, eq(holds.vmId, extensions.vmId))
    .leftJoin(laneTimes, eq(laneTimes.vmId, extensions.vmId))
    .where(where)
    .orderBy(extensions.vmId, extensions.name);
}

export type ExtensionFacts = Awaited<ReturnType<typeof readExtensions>>[number] & {
  /** The time until which the extension may wait for its dependencies and its turn; null if it waits for nothing. */
  waitsUntil: Date | null;
  pauses: Pauses;
};

export interface Derived {
  verdict: HeartbeatVerdict;
  /** Number of seconds since the status became stale; null if it is not stale. */
  staleFor: number | null;
  /**
   * The deadline of the goal. Null while a hold or an execution pauses the deadline. Also null once the goal is
   * concluded, a command has failed, or the extension is disabled as declared.
   */
  deadlineAt: Date | null;
  health: ExtensionHealth;
  /** Cause of the health; null if the health has none, as for `healthy`. */
  cause: HealthCause | null;
  /** Name of the extension that this one waits for; null if it does not wait. */
  waitsFor: string | null;
}

/** The facts of an extension from which its health is derived. */
export type HealthFacts = Omit<
  ExtensionFacts,
  'goalVersion' | 'messageId' | 'partMessageId' | 'concludedWith' | keyof PauseFacts
>;

/** The agent's status and the periods that it announced; a null period means the default. */
export interface AgentFacts {
  status: AgentStatus;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
}

/**
 * Derives the heartbeat verdict, staleness, deadline and health of an extension at `now`, and stores nothing (AZ-H3,
 * AZ-S4, AZ-S6).
 */
export function derive(facts: HealthFacts, agent: AgentFacts, now: Date): Derived {
  const { handlerState: handler, handlerAt } = facts;
  const verdict = heartbeatVerdict(
    {
      optedIn: facts.optedIn,
      reading: heartbeatReading(facts),
      periodSeconds: agent.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds,
      enabledAt: handler?.state === 'enabled' ? handlerAt : null,
    },
    now,
  );
  const reading = statusReading(facts);
  const stale = reading && staleFor(reading, agent.statusSeconds ?? defaultPeriods.statusSeconds, now);
  const concluded = facts.concludedAt !== null && facts.statusSequence === facts.goalSequenceNumber;
  const due = concluded ? null : deadlineOf({ ...facts, state: facts.goal });
  const deadlineAt = due !== null && standsStill(due, facts.pauses) ? null : due;
  const { health, cause } = evaluateExtensionHealth({
    agent: agent.status,
    goal: { state: facts.goal, sequenceNumber: facts.goalSequenceNumber },
    handler,
    heartbeat: verdict,
    status: reading && {
      status: reading.status,
      sequenceNumber: facts.statusSequence ?? 0,
      stale: stale !== null,
      partFailed: facts.partFailed,
    },
    deadlinePassed: deadlineAt !== null && deadlineAt < now,
  });
  // No deadline applies if the extension is disabled as declared or a command has failed, because no status can then
  // conclude the goal.
  const open = health === 'disabled' || hasFailed(handler, facts.goalSequenceNumber) ? null : deadlineAt;
  const waitsFor = cause === 'waiting' || cause === 'deadline' ? (handler?.blockedBy ?? null) : null;
  return { verdict, staleFor: stale, deadlineAt: open, health, cause, waitsFor };
}
