import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type {
  Definition,
  Freeze,
  Reason,
  RingCounts,
  RingPlan,
  RingVerdict,
  RolloutApproval,
  RolloutPlan,
  RolloutRules,
  StepFailure,
  Strategy,
} from '#server/domain/rollout-rules/stored.ts';
import type {
  PairResult,
  Pauser,
  RingState,
  RolloutKind,
  RolloutState,
  StepState,
} from '#server/domain/rollout-rules/words.ts';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true });

/** Rollouts: changes for many VMs. A row's lock serializes the verbs of people and the passes of workers. */
export const rollouts = pgTable(
  'rollouts',
  {
    id: uuid().primaryKey(),
    /** Increases with every edit; the ETag of the rollout. */
    revision: integer().notNull(),
    name: text().notNull(),
    note: text(),
    kind: text().$type<RolloutKind>().notNull(),
    state: text().$type<RolloutState>().notNull(),
    /** Selection, change without protected settings, rings and gates, with every default filled in. */
    definition: json().$type<Definition>().notNull(),
    /** The handler that the change names; null if it names none. */
    handler: text(),
    /** The change's protected settings, encrypted with the portal's key; null without them and after the end. */
    sealed: bytea(),
    /** The actor who entered them, as `kind:id`. */
    setBy: text('set_by'),
    pausedBy: text('paused_by').$type<Pauser>(),
    /** Why the rollout does not move, or is planned again. */
    why: jsonb().$type<Reason[]>().notNull().default([]),
    next: jsonb().$type<Reason>(),
    plan: json().$type<RolloutPlan>(),
    planHash: text('plan_hash'),
    /** The number of the latest request to plan. A plan for an older request is discarded. */
    planning: integer().notNull().default(0),
    plannedAt: time('planned_at'),
    plannedBy: text('planned_by'),
    approvals: jsonb().$type<RolloutApproval[]>().notNull().default([]),
    /** Names of the open rollouts whose overlap the start accepted. */
    acceptedOverlap: jsonb('accepted_overlap').$type<string[]>().notNull().default([]),
    members: integer().notNull().default(0),
    /** The database's epoch when the rollout last ran. Another epoch means that the database was restored. */
    epoch: text().notNull(),
    /** When a worker must look at the rollout next; null if only a person moves it. */
    dueAt: time('due_at'),
    /** When a worker last looked at it. */
    servedAt: time('served_at'),
    /** When the rate allows the next batch. */
    nextBatchAt: time('next_batch_at'),
    /** When a step last began or was decided, or a person last started or resumed it. */
    progressAt: time('progress_at'),
    /** The last row of `health_transitions` whose steps were judged. */
    healthSeen: bigint('health_seen', { mode: 'number' }).notNull().default(0),
    /** The rollout that this one reverts or repeats. */
    of: uuid(),
    revertedBy: uuid('reverted_by'),
    supersededBy: uuid('superseded_by'),
    createdAt: time('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    /**
     * Creator, last editor and last planner as `kind:id`: none of them may approve. `approveAgain`: an edit while
     * paused invalidated the approvals, so the rollout needs them again to resume.
     */
    authors: jsonb()
      .$type<{ created: string; edited: string | null; planned: string | null; approveAgain?: boolean }>()
      .notNull(),
    startAt: time('start_at'),
    startedAt: time('started_at'),
    startedBy: text('started_by'),
    endedAt: time('ended_at'),
  },
  (t) => [
    index('rollouts_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
    index('rollouts_created').on(t.createdAt, t.id),
    index('rollouts_ended').on(t.endedAt).where(sql`${t.endedAt} is not null`),
    index('rollouts_of').on(t.of).where(sql`${t.of} is not null`),
  ],
);

/** The rings of each rollout, in order. */
export const rolloutRings = pgTable(
  'rollout_rings',
  {
    rolloutId: uuid('rollout_id')
      .notNull()
      .references(() => rollouts.id, { onDelete: 'cascade' }),
    ring: smallint().notNull(),
    state: text().$type<RingState>().notNull(),
    /** Place of the ring's first member in the order of the whole rollout, and the number of its members. */
    first: integer().notNull(),
    size: integer().notNull(),
    /** How many of its members were taken from the order: their steps began, or they have another row. */
    taken: integer().notNull().default(0),
    plan: json().$type<RingPlan>(),
    counts: jsonb().$type<RingCounts>().notNull(),
    verdicts: jsonb().$type<RingVerdict[]>().notNull().default([]),
    /** What an operator overruled, and from which counts the gates count since then. */
    overruled: jsonb().$type<{
      decided: number;
      failed: number;
      success: boolean;
      changedFirst: number;
      controlFirst: number;
      pairs: number;
    } | null>(),
    openedAt: time('opened_at'),
    /** When the gates were last met without a break. */
    metAt: time('met_at'),
    passedAt: time('passed_at'),
    /** Whether an operator opened the ring before the earlier ring passed. */
    advanced: boolean().notNull().default(false),
    approvals: jsonb().$type<RolloutApproval[]>().notNull().default([]),
  },
  (t) => [primaryKey({ columns: [t.rolloutId, t.ring] })],
);

/** The members of each rollout in order, up to 4,096 in a row. */
export const rolloutMembers = pgTable(
  'rollout_members',
  {
    rolloutId: uuid('rollout_id')
      .notNull()
      .references(() => rollouts.id, { onDelete: 'cascade' }),
    ring: smallint().notNull(),
    /** Place of the row's first member in its ring. */
    first: integer().notNull(),
    /** The lowest and highest MD5, in hexadecimal, of the row's members. */
    low: text().notNull(),
    high: text().notNull(),
    vmIds: uuid('vm_ids').array().notNull(),
    /** One byte for each member: the position of its kind in `memberKinds`. */
    kinds: bytea().notNull(),
  },
  (t) => [primaryKey({ columns: [t.rolloutId, t.ring, t.first] })],
);

/** The members that a rollout reached, or that are parked or skipped. */
export const rolloutSteps = pgTable(
  'rollout_steps',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    rolloutId: uuid('rollout_id')
      .notNull()
      .references(() => rollouts.id, { onDelete: 'cascade' }),
    ring: smallint().notNull(),
    /** Place of the member in its ring. */
    place: integer().notNull(),
    /** Position of the planned kind in `memberKinds`. */
    kind: smallint().notNull(),
    state: text().$type<StepState>().notNull(),
    cause: text(),
    /** What failed, as the health said when the step failed; null unless it did. */
    failure: jsonb().$type<StepFailure>(),
    /** For a step that was skipped as moved: the position of the kind that the change had at the step. */
    movedTo: smallint('moved_to'),
    attempt: smallint().notNull().default(0),
    /** The extensions that the step changed, with their sequence number and version before and after. */
    touched: json()
      .$type<
        {
          name: string;
          sequenceNumber: number;
          before: { version: string; sequenceNumber: number } | null;
          version: string | null;
        }[]
      >()
      .notNull()
      .default([]),
    /** Incarnations before and after the first attempt, and of the latest attempt. */
    beforeIncarnation: integer('before_incarnation'),
    incarnation: integer(),
    /** The execution of the latest attempt, for a change of kind `run`; null before the first attempt. */
    executionId: uuid('execution_id'),
    /** Whether every touched extension was healthy and the agent ready before the step. */
    wasHealthy: boolean('was_healthy').notNull().default(false),
    publishedAt: time('published_at'),
    deliveredAt: time('delivered_at'),
    /** When the command of the step concluded, successfully or not yet healthy. */
    concludedAt: time('concluded_at'),
    healthyAt: time('healthy_at'),
    /** How often the VM did not stay healthy. */
    breaks: smallint().notNull().default(0),
    decidedAt: time('decided_at'),
    dueAt: time('due_at'),
    /** Who changed the extension after the step, and with which action. */
    overtakenBy: jsonb('overtaken_by').$type<{ by: string; action: string; at: string }>(),
    /** The VM that is watched together with this one, and the result. */
    pairVmId: uuid('pair_vm_id'),
    pairResult: text('pair_result').$type<PairResult>(),
    pairChangedFailedAt: time('pair_changed_failed_at'),
    pairControlFailedAt: time('pair_control_failed_at'),
    pairDueAt: time('pair_due_at'),
    updatedAt: time('updated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.rolloutId] }),
    uniqueIndex('rollout_steps_open_vm')
      .on(t.vmId)
      .where(sql`${t.state} in ('inFlight', 'soaking', 'retrying', 'reverting')`),
    index('rollout_steps_state').on(t.rolloutId, t.state, t.ring, t.place),
    index('rollout_steps_place').on(t.rolloutId, t.ring, t.place),
    index('rollout_steps_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
    index('rollout_steps_pair').on(t.pairVmId).where(sql`${t.pairVmId} is not null and ${t.pairResult} is null`),
  ],
);

/** Points of each ring's curve, at most 240; every second one is deleted when there are more. */
export const rolloutCurve = pgTable(
  'rollout_curve',
  {
    rolloutId: uuid('rollout_id')
      .notNull()
      .references(() => rollouts.id, { onDelete: 'cascade' }),
    ring: smallint().notNull(),
    at: time('at').notNull(),
    decided: integer().notNull(),
    failed: integer().notNull(),
    pairs: integer().notNull(),
    changedFirst: integer('changed_first').notNull(),
    controlFirst: integer('control_first').notNull(),
    /** Pairs of which both VMs failed in one pass. */
    both: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.rolloutId, t.ring, t.at] })],
);

/** Saved strategies. The built-in ones have a row only if they are used for automatic upgrades. */
export const rolloutStrategies = pgTable('rollout_strategies', {
  name: text().primaryKey(),
  strategy: json().$type<Strategy>().notNull(),
  /** Handlers whose automatic upgrades use the strategy; `*` is every other handler. */
  automaticFor: text('automatic_for').array().notNull().default([]),
  changedAt: time('changed_at').notNull(),
  changedBy: text('changed_by').notNull(),
});

/** A single row: the rules of all rollouts of the portal. */
export const rolloutRules = pgTable('rollout_rules', {
  id: integer().primaryKey(),
  rules: json().$type<RolloutRules>().notNull(),
  freezes: jsonb().$type<Freeze[]>().notNull().default([]),
  /** When the rate of the portal allows the next batch. */
  nextBatchAt: time('next_batch_at'),
  changedAt: time('changed_at').notNull(),
  changedBy: text('changed_by').notNull(),
});
