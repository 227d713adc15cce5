import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type {
  AgentStatus,
  ExtensionHealth,
  HealthCause,
  HeartbeatVerdict,
  VmHealth,
} from '#server/domain/verdicts/words.ts';
import { vms } from './vms.ts';

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' });

/**
 * When the health of each VM must be evaluated next: immediately after a change, otherwise when it may change with
 * time, and about once a day in any case.
 */
export const healthChecks = pgTable(
  'health_checks',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    dueAt: timestamp('due_at', { withTimezone: true }).notNull(),
  },
  (t) => [index('health_checks_due').on(t.dueAt)],
);

/**
 * The health of VMs, for filtering, counting and sorting lists. The worker updates it within seconds. Pages about a
 * single VM do not use this table, but evaluate the VM's health when they load. A deleted VM has no row.
 */
export const vmHealth = pgTable(
  'vm_health',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    /** The VM's name, copied so that one index can filter and sort. */
    name: text().notNull(),
    tags: jsonb().$type<Record<string, string>>().notNull(),
    health: text().$type<VmHealth>().notNull(),
    /** The result of `rankOf` for the health; 0 is the worst. */
    rank: smallint().notNull(),
    agent: text().$type<AgentStatus>().notNull(),
    /** When the VM's current health began. */
    since: timestamp({ withTimezone: true }).notNull(),
    /** The nearest deadline of any of the VM's extensions; null if there is none. */
    deadlineAt: timestamp('deadline_at', { withTimezone: true }),
    /** The transaction that last wrote the row. The map uses it to find changed rows. */
    writtenBy: xid8('written_by').notNull().default(sql`pg_current_xact_id()`),
  },
  (t) => [
    index('vm_health_written').on(t.writtenBy),
    index('vm_health_name').on(t.name, t.vmId),
    index('vm_health_rank').on(t.rank, t.name, t.vmId),
    // This index sorts by rank first. A list sorted only by time merges six scans, one per rank.
    index('vm_health_rank_since').on(t.rank, t.since, t.vmId),
    index('vm_health_deadline').on(t.deadlineAt).where(sql`${t.deadlineAt} is not null`),
    index('vm_health_tags').using('gin', t.tags),
  ],
);

/** The health of extensions, for lists and the overview. Deleted with the extension. */
export const extensionHealth = pgTable(
  'extension_health',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    name: text().notNull(),
    handler: text().notNull(),
    /** The declared version, and the version that the agent reports. */
    goalVersion: text('goal_version').notNull(),
    version: text(),
    /** The declared sequence number for which the health was evaluated; null in rows of an earlier release. */
    sequenceNumber: bigint('sequence_number', { mode: 'number' }),
    health: text().$type<ExtensionHealth>().notNull(),
    heartbeat: text().$type<HeartbeatVerdict>().notNull(),
    cause: text().$type<HealthCause>(),
    /** The failed command and its exit code, if they are the cause of the health. */
    command: text(),
    exitCode: integer('exit_code'),
    /** Message id of the status shown. If a failed substatus is the cause, its message id. */
    messageId: text('message_id'),
    /** The extension that this one waits for. */
    waitsFor: text('waits_for'),
    /** When the extension's current health began. */
    since: timestamp({ withTimezone: true }).notNull(),
    /**
     * The values that define the extension's problem, and when the problem began. A retry does not end a problem: both
     * are kept until the extension is healthy or disabled, or fails in another way. Null without a problem.
     */
    problem: text(),
    problemSince: timestamp('problem_since', { withTimezone: true }),
    deadlineAt: timestamp('deadline_at', { withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.name] }),
    index('extension_health_version').on(t.handler, t.goalVersion, t.health),
    index('extension_health_message').on(t.messageId).where(sql`${t.messageId} is not null`),
    index('extension_health_cause').on(t.health, t.handler).where(sql`${t.cause} is not null`),
    index('extension_health_deadline').on(t.deadlineAt).where(sql`${t.deadlineAt} is not null`),
  ],
);

/** What impairs a VM besides its extensions, such as its units. The health of the VM is the worst of all. */
export const vmConcerns = pgTable(
  'vm_concerns',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    /** What the row is about: `units`. */
    source: text().notNull(),
    /** The worst of them, such as the unit `wordpress/1`. */
    subject: text().notNull(),
    /** The formula of the unit. Null in rows of an earlier release. */
    formula: text(),
    health: text().$type<VmHealth>().notNull(),
    cause: text(),
    /** The hook or command that failed, its exit code, and the message id of its reason. */
    command: text(),
    exitCode: integer('exit_code'),
    messageId: text('message_id'),
    since: timestamp({ withTimezone: true }).notNull(),
    deadlineAt: timestamp('deadline_at', { withTimezone: true }),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.source] })],
);

/**
 * The number of VMs with each health value and, under `extensions`, the number of extensions. Readers use these counts
 * so that they need not count a million rows. Pending differences are in `fleet_count_deltas`; the current number is
 * the sum of both.
 */
export const fleetCounts = pgTable('fleet_counts', {
  what: text().primaryKey(),
  n: bigint({ mode: 'number' }).notNull(),
});

/**
 * Transactions that change a health value only insert rows here, so that they do not wait for each other. A job later
 * adds the rows to `fleet_counts` and deletes them.
 */
export const fleetCountDeltas = pgTable('fleet_count_deltas', { what: text().notNull(), n: integer().notNull() });

/** A single row: the result of the last complete count. */
export const fleetCountChecks = pgTable('fleet_count_checks', {
  id: integer().primaryKey(),
  checkedAt: timestamp('checked_at', { withTimezone: true }).notNull(),
  /** When the counts last differed from a complete count and were corrected, and by how much. */
  disagreedAt: timestamp('disagreed_at', { withTimezone: true }),
  difference: jsonb().$type<Record<string, number>>(),
});

/** Changes in the health or heartbeat of a VM (`extension` is null) or of an extension. Kept for some days. */
export const healthTransitions = pgTable(
  'health_transitions',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: timestamp({ withTimezone: true }).notNull(),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    extension: text(),
    kind: text().$type<'health' | 'heartbeat'>().notNull(),
    /** The health or heartbeat before the change; null for the first transition. */
    from: text(),
    /** The health or heartbeat after the change; null if the extension or the VM was removed. */
    to: text(),
    /** The cause, as in `extension_health`. `waitsFor` is the extension that this one waits for. */
    cause: text().$type<HealthCause>(),
    waitsFor: text('waits_for'),
  },
  (t) => [
    index('health_transitions_vm').on(t.vmId, t.at),
    index('health_transitions_at').on(t.at).where(sql`${t.extension} is null`),
  ],
);

/** Hourly number of VMs per handler version, to show adoption and failures over time. */
export const versionCounts = pgTable(
  'version_counts',
  {
    handler: text().notNull(),
    version: text().notNull(),
    /** Start of the hour (UTC). */
    hour: timestamp({ withTimezone: true }).notNull(),
    vms: integer().notNull(),
    failed: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.handler, t.version, t.hour] })],
);
