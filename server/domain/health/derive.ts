import { and, eq, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse, extensions, handlerVersions, stockAgents } from '#db/schema/index.ts';
import { defaultPeriods, type HandlerReport } from '#protocol/index.ts';
import { heartbeatReading, statusReading } from '#server/domain/reports/index.ts';
import {
  type AgentStatus,
  deadlineOf,
  type ExtensionHealth,
  extensionHealth,
  type HealthCause,
  type HeartbeatVerdict,
  hasFailed,
  heartbeatVerdict,
  staleFor,
} from '#server/domain/verdicts/index.ts';
import { failedPart } from './failed-part.ts';
import { withWaits } from './waits-until.ts';

const reportedVersion = alias(handlerVersions, 'reported_version');
const optsIn = (version: typeof handlerVersions | typeof reportedVersion) =>
  sql`(${version.manifest} #>> '{handlerManifest,reportHeartbeat}')::boolean`;

const { handlerState, status } = extensionLatest;
const part = failedPart('extension_latest.status', 'extension_pulse.status_word');

/** What health is derived from; documents only as far as that needs them. */
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
  heldAt: stockAgents.heldAt,
  releasedAt: stockAgents.releasedAt,
  handlerState: sql<HandlerReport | null>`${handlerState}::jsonb - 'output'`,
  handlerAt: extensionLatest.handlerAt,
  heartbeatStatus: extensionPulse.heartbeatStatus,
  heartbeatReadAt: extensionPulse.heartbeatReadAt,
  heartbeatAgeSeconds: extensionPulse.heartbeatAgeSeconds,
  /** Id of the status' message. */
  messageId: sql<string | null>`${status} #>> '{message,id}'`,
  /** Whether a substatus has an error, and the id of the message of the first that has. */
  partFailed: sql<boolean>`${sql.raw(part)} is not null`,
  partMessageId: sql<string | null>`${sql.raw(part)} #>> '{message,id}'`,
  statusWord: extensionPulse.statusWord,
  statusSequence: extensionPulse.statusSequence,
  statusReadAt: extensionPulse.statusReadAt,
  statusAgeSeconds: extensionPulse.statusAgeSeconds,
  concludedAt: extensionPulse.concludedAt,
  concludedWith: extensionPulse.concludedWith,
  /** By the manifest of the version that runs; of the goal's while nobody knows which that is. */
  optedIn: sql<boolean>`coalesce(${optsIn(reportedVersion)}, ${optsIn(handlerVersions)}, false)`,
};

/** Extensions beside what was reported of them, by VM and name. Of a VM all are selected: they wait for each other. */
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
    .leftJoin(stockAgents, eq(stockAgents.vmId, extensions.vmId))
    .where(where)
    .orderBy(extensions.vmId, extensions.name);
}

export type ExtensionFacts = Awaited<ReturnType<typeof readExtensions>>[number] & {
  /** Until when it may wait for those that it depends on. */
  waitsUntil: Date | null;
};

export interface Derived {
  verdict: HeartbeatVerdict;
  /** Seconds, or null where the status is not stale. */
  staleFor: number | null;
  /** Until when the goal must be concluded; null once it is, failed, or is disabled as wanted. */
  deadlineAt: Date | null;
  health: ExtensionHealth;
  /** What the health comes from; null where it is as it should be. */
  cause: HealthCause | null;
  /** The extension that the goal in force waits for. */
  waitsFor: string | null;
}

/** Of an extension's facts those from which its health is derived. */
export type HealthFacts = Omit<ExtensionFacts, 'goalVersion' | 'messageId' | 'partMessageId' | 'concludedWith'>;

/** What the agent promised; null seconds are the defaults. */
export interface AgentFacts {
  status: AgentStatus;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
}

/** Verdict, staleness, deadline and health of an extension now: nothing of it is stored (AZ-H3, AZ-S4, AZ-S6). */
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
  // Nothing falls due while the agent is on hold.
  const deadlineAt = due !== null && facts.heldAt !== null && due >= facts.heldAt ? null : due;
  const { health, cause } = extensionHealth({
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
  // Nothing is awaited of what is disabled as wanted, nor of a command that failed; no status concludes that.
  const open = health === 'disabled' || hasFailed(handler, facts.goalSequenceNumber) ? null : deadlineAt;
  const waitsFor = cause === 'waiting' || cause === 'deadline' ? (handler?.blockedBy ?? null) : null;
  return { verdict, staleFor: stale, deadlineAt: open, health, cause, waitsFor };
}
