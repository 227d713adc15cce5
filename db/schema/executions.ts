import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ExecutionState } from '#protocol/executions/index.ts';
import { vms } from './vms.ts';

const ofVm = () =>
  uuid('vm_id')
    .notNull()
    .references(() => vms.id);
const time = (name: string) => timestamp(name, { withTimezone: true });

/** Execution plans as they were queued, by the digest of their text. Executions of the same plan share a row. */
export const executionPlans = pgTable('execution_plans', {
  /** SHA-256 of `text`, in hexadecimal. */
  sha256: text().primaryKey(),
  /** The plan's JSON, with its properties in their original order. */
  text: text().notNull(),
  createdAt: time('created_at').notNull(),
});

/** A person's decision on an execution that waited for approval. `at` is an ISO 8601 time. */
export interface ExecutionApproval {
  approved: boolean;
  at: string;
  by: string;
  note: string | null;
}

/** What a result says about its exception: empty texts if it says nothing. */
export interface ExecutionException {
  /** The beginning of the message. */
  message: string;
  script: string;
}

/** Execution plans that were queued for a VM, with their state and result. */
export const executions = pgTable(
  'executions',
  {
    vmId: ofVm(),
    id: uuid().notNull(),
    /** The `ID` of the plan, which the specification calls globally unique; the execution's id if the plan has none. */
    planId: text('plan_id').notNull(),
    /** Number that increases with each execution of the VM, for AMQP agents. The portal orders executions by `turn`. */
    stamp: bigint({ mode: 'number' }).notNull(),
    /** The execution's place in the order of the VM's work. */
    turn: bigint({ mode: 'number' }).notNull(),
    state: text().$type<ExecutionState>().notNull(),
    name: text().notNull(),
    version: text().notNull(),
    planSha256: text('plan_sha256')
      .notNull()
      .references(() => executionPlans.sha256),
    /**
     * Id of the row in `secrets` with the secret parameters; null if there are none, and once the execution has ended.
     */
    secretId: uuid('secret_id'),
    /** The names of the secret parameters. */
    secretParameters: text('secret_parameters').array().notNull().default([]),
    channel: text().$type<'https' | 'amqp'>().notNull(),
    /** The runbook and its version, if the plan comes from one. */
    runbook: text(),
    runbookVersion: text('runbook_version'),
    queuedAt: time('queued_at').notNull(),
    queuedBy: text('queued_by').notNull(),
    /** The member or other actor who is responsible for the execution (`Principal.key`), and who may not approve it. */
    requestedBy: text('requested_by'),
    /** The decision on the execution; null before a decision, and if none is needed. */
    approval: json().$type<ExecutionApproval>(),
    note: text(),
    /** The rollout that queued the execution; null if a person queued it. */
    rolloutId: uuid('rollout_id'),
    /** When the execution expires if it has not been delivered. */
    validUntil: time('valid_until').notNull(),
    timeoutSeconds: integer('timeout_seconds').notNull(),
    /** When the portal ends the execution; null once it has ended. */
    dueAt: time('due_at'),
    /** Number of times the plan was delivered. */
    handedOut: integer('handed_out').notNull().default(0),
    deliveredAt: time('delivered_at'),
    /** When the broker confirmed that it has the plan; null for plans that are fetched over HTTPS. */
    publishedAt: time('published_at'),
    receivedAt: time('received_at'),
    begunAt: time('begun_at'),
    concludedAt: time('concluded_at'),
    /** Enrollment time of the machine that the execution was queued for; null if the VM had no machine. */
    machineEnrolledAt: time('machine_enrolled_at'),
    cancelAskedAt: time('cancel_asked_at'),
    cancelAskedBy: text('cancel_asked_by'),
    /** Number of times the Body has begun, and number of times the machine restarted. */
    run: integer().notNull().default(0),
    reboots: integer().notNull().default(0),
    /** The result's error code; null without a result. */
    errorCode: bigint('error_code', { mode: 'number' }),
    /** Why the portal ended the execution; otherwise null. */
    reason: text(),
    /** The first result: the JSON text that the machine sent. */
    result: text(),
    /** The exception of `result`, so that lists do not read the result; null without a result. */
    exception: json().$type<ExecutionException>(),
    resultLate: boolean('result_late').notNull().default(false),
    /** Number of results that arrived after the first. */
    repeats: integer().notNull().default(0),
    /** Until this time, the machine sends the log each second, because someone is following it. */
    followedUntil: time('followed_until'),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.id] }),
    uniqueIndex('executions_plan').on(t.planId),
    uniqueIndex('executions_stamp').on(t.vmId, t.stamp),
    uniqueIndex('executions_turn').on(t.vmId, t.turn),
    index('executions_waiting').on(t.vmId, t.turn).where(sql`${t.state} in ('waiting-approval', 'queued')`),
    // Finds the plans that the conductor has to publish.
    index('executions_unpublished')
      .on(t.vmId)
      .where(sql`${t.channel} = 'amqp' and ${t.state} in ('queued', 'delivered') and ${t.publishedAt} is null`),
    // A machine runs one execution at a time.
    uniqueIndex('executions_open').on(t.vmId).where(sql`${t.state} in ('delivered', 'running', 'restarting')`),
    index('executions_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
    index('executions_queued_at').on(t.queuedAt),
    index('executions_runbook').on(t.runbook, t.queuedAt).where(sql`${t.runbook} is not null`),
    index('executions_cancel_asked').on(t.cancelAskedAt).where(sql`${t.cancelAskedAt} is not null`),
  ],
);

/** The calls of an execution's Body. */
export const executionCalls = pgTable(
  'execution_calls',
  {
    vmId: uuid('vm_id').notNull(),
    executionId: uuid('execution_id').notNull(),
    n: integer().notNull(),
    run: integer().notNull(),
    /** The script's name; null for a call of `api`. */
    script: text(),
    function: text(),
    state: text().$type<'running' | 'succeeded' | 'failed'>().notNull(),
    /** The rows of the transcript in which the call begins (`row`) and ends (`untilRow`). */
    row: integer().notNull(),
    untilRow: integer('until_row'),
    /** When the call began, in milliseconds since the Body began. */
    atMs: bigint('at_ms', { mode: 'number' }).notNull(),
    tookMs: bigint('took_ms', { mode: 'number' }),
    exitCode: integer('exit_code'),
    fromJournal: boolean('from_journal').notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.executionId, t.n] }),
    foreignKey({
      columns: [t.vmId, t.executionId],
      foreignColumns: [executions.vmId, executions.id],
      name: 'execution_calls_execution',
    }).onDelete('cascade'),
  ],
);

/** The highest stamp of each VM. Kept when executions are deleted, so that stamps never repeat (MU-27). */
export const executionStamps = pgTable('execution_stamps', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  highest: bigint({ mode: 'number' }).notNull(),
});

/** Which executions need approval: none, those that run no published runbook, or all. */
export type ApprovalRule = 'none' | 'unpublished' | 'all';

/** A single row with the rules for executions. Without a row, none need approval. */
export const executionRules = pgTable('execution_rules', {
  id: integer().primaryKey(),
  approval: text().$type<ApprovalRule>().notNull(),
  updatedAt: time('updated_at').notNull(),
});
