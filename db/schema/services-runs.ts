import { sql } from 'drizzle-orm';
import {
  bigint,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { CauseOfRun, HookView, RunResult, StoredReason } from '#server/domain/service-rules/stored.ts';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';
import { units } from './services.ts';
import { vms } from './vms.ts';

const time = (name: string) => timestamp(name, { withTimezone: true });

/** Runs of hooks. The agent chooses the id. */
export const hookRuns = pgTable(
  'hook_runs',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    id: uuid().notNull(),
    unitId: uuid('unit_id')
      .notNull()
      .references(() => units.id),
    /** The number of the run, counted per unit. */
    number: integer().notNull(),
    hook: text().notNull(),
    /** The relation and the member that the hook is for, and the version of the member's node that was known. */
    relationId: bigint('relation_id', { mode: 'number' }),
    remoteUnitId: uuid('remote_unit_id'),
    dueVersion: integer('due_version'),
    /** The public address that `config-changed` confirms; null if the agent names none. */
    dueAddress: jsonb('due_address').$type<{ public: string | null }>(),
    attempt: integer().notNull(),
    formulaVersion: text('formula_version').notNull(),
    cause: jsonb().$type<CauseOfRun>(),
    views: jsonb().$type<HookView[]>(),
    begunAt: time('begun_at').notNull(),
    endedAt: time('ended_at'),
    seconds: doublePrecision(),
    timeoutSeconds: integer('timeout_seconds').notNull(),
    outcome: text().$type<RunOutcome>().notNull(),
    exitCode: integer('exit_code'),
    signal: text(),
    /** The code with which the portal rejected what the hook changed. */
    refused: text(),
    reason: jsonb().$type<StoredReason>(),
    /** What the run stored, for the repeated call. */
    result: jsonb().$type<RunResult>(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.id] }),
    uniqueIndex('hook_runs_number').on(t.vmId, t.unitId, t.number),
    uniqueIndex('hook_runs_running').on(t.vmId, t.unitId).where(sql`${t.outcome} = 'running'`),
    index('hook_runs_begun').on(t.begunAt),
  ],
);
