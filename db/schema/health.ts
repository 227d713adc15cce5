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

/** VMs whose health must be evaluated, and when: immediately after a change, otherwise when known facts age. */
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
 * A VM as lists filter, count and sort it: evaluated by the worker, seconds old at most. Pages about one VM
 * evaluate it when they are read. A deleted VM has no row.
 */
export const vmHealth = pgTable(
  'vm_health',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    /** Copies from the VM, so that one index serves filter and order. */
    name: text().notNull(),
    tags: jsonb().$type<Record<string, string>>().notNull(),
    health: text().$type<VmHealth>().notNull(),
    /** `rankOf` the health, 0 for the worst. */
    rank: smallint().notNull(),
    agent: text().$type<AgentStatus>().notNull(),
    /** Since when it has this health. */
    since: timestamp({ withTimezone: true }).notNull(),
    /** The nearest deadline of an extension; null without one. */
    deadlineAt: timestamp('deadline_at', { withTimezone: true }),
    /** The transaction that last wrote the row, by which the map finds new rows. */
    writtenBy: xid8('written_by').notNull().default(sql`pg_current_xact_id()`),
  },
  (t) => [
    index('vm_health_written').on(t.writtenBy),
    index('vm_health_name').on(t.name, t.vmId),
    index('vm_health_rank').on(t.rank, t.name, t.vmId),
    // Within a rank; the latest of all ranks are merged from six scans.
    index('vm_health_rank_since').on(t.rank, t.since, t.vmId),
    index('vm_health_deadline').on(t.deadlineAt).where(sql`${t.deadlineAt} is not null`),
    index('vm_health_tags').using('gin', t.tags),
  ],
);

/** An extension of a VM for lists and the overview; deleted with the extension. */
export const extensionHealth = pgTable(
  'extension_health',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    name: text().notNull(),
    handler: text().notNull(),
    /** The declared version, and the one that the agent reports. */
    goalVersion: text('goal_version').notNull(),
    version: text(),
    health: text().$type<ExtensionHealth>().notNull(),
    heartbeat: text().$type<HeartbeatVerdict>().notNull(),
    cause: text().$type<HealthCause>(),
    /** The failed command and its exit code, if that is the cause. */
    command: text(),
    exitCode: integer('exit_code'),
    /** Id of the shown status message; of the failed substatus' message if that is the cause. */
    messageId: text('message_id'),
    /** The extension that it waits for. */
    waitsFor: text('waits_for'),
    /** Since when it has this health. */
    since: timestamp({ withTimezone: true }).notNull(),
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

/**
 * How many VMs have which health, and under `extensions` how many of those there are: so that no reader counts a
 * million rows. Pending differences are in `fleet_count_deltas`; the sum of both is correct at any moment.
 */
export const fleetCounts = pgTable('fleet_counts', {
  what: text().primaryKey(),
  n: bigint({ mode: 'number' }).notNull(),
});

/** Insert only, in the transaction that changes a health, so that no transaction waits for another. */
export const fleetCountDeltas = pgTable('fleet_count_deltas', { what: text().notNull(), n: integer().notNull() });

/** The last complete count; one row. */
export const fleetCountChecks = pgTable('fleet_count_checks', {
  id: integer().primaryKey(),
  checkedAt: timestamp('checked_at', { withTimezone: true }).notNull(),
  /** When the counts last differed from a complete count, and by how much; they were corrected then. */
  disagreedAt: timestamp('disagreed_at', { withTimezone: true }),
  difference: jsonb().$type<Record<string, number>>(),
});

/** Changes of the health or heartbeat of a VM (`extension` null) or of one of its extensions; kept for days. */
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
    /** Null for the first one. */
    from: text(),
    /** Null when the extension or the VM was removed. */
    to: text(),
    /** As in `extension_health`, with what it waits for. */
    cause: text().$type<HealthCause>(),
    waitsFor: text('waits_for'),
  },
  (t) => [
    index('health_transitions_vm').on(t.vmId, t.at),
    index('health_transitions_at').on(t.at).where(sql`${t.extension} is null`),
  ],
);

/** VMs per handler version by the hour, for adoption and failures over time. */
export const versionCounts = pgTable(
  'version_counts',
  {
    handler: text().notNull(),
    version: text().notNull(),
    /** The beginning of the hour (UTC). */
    hour: timestamp({ withTimezone: true }).notNull(),
    vms: integer().notNull(),
    failed: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.handler, t.version, t.hour] })],
);
