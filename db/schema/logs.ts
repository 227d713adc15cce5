import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { CommandName } from '#protocol/manifest.ts';
import { vms } from './vms.ts';

const ofVm = () =>
  uuid('vm_id')
    .notNull()
    .references(() => vms.id);

/**
 * The output of one run of a handler's command, or the transcript of an execution, as far as it has arrived. The output
 * of a command is kept after the extension is removed.
 */
export const commandOutputs = pgTable(
  'command_outputs',
  {
    vmId: ofVm(),
    id: uuid().notNull(),
    /** This column and the next three are null for the transcript of an execution. */
    extension: text(),
    sequenceNumber: bigint('sequence_number', { mode: 'number' }),
    command: text().$type<CommandName>(),
    attempt: integer(),
    /** Id of the execution whose transcript this is; null for the output of a command. */
    executionId: uuid('execution_id'),
    /** Total length, as reported by the agent; null while the command may still write. */
    totalBytes: bigint('total_bytes', { mode: 'number' }),
    /** Number of bytes that arrived. */
    storedBytes: bigint('stored_bytes', { mode: 'number' }).notNull(),
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.id] }),
    uniqueIndex('command_outputs_run').on(t.vmId, t.extension, t.sequenceNumber, t.command, t.attempt),
    uniqueIndex('command_outputs_execution').on(t.vmId, t.executionId).where(sql`${t.executionId} is not null`),
    index('command_outputs_updated').on(t.updatedAt),
    check(
      'command_outputs_subject',
      sql`num_nulls(${t.extension}, ${t.sequenceNumber}, ${t.command}, ${t.attempt}) = case when ${t.executionId} is null then 0 else 4 end`,
    ),
  ],
);

/**
 * A piece of an output: bytes `start` up to, but not including, `until`, compressed with gzip in a blob. Pieces never
 * overlap.
 */
export const outputPieces = pgTable(
  'output_pieces',
  {
    vmId: uuid('vm_id').notNull(),
    outputId: uuid('output_id').notNull(),
    start: bigint({ mode: 'number' }).notNull(),
    until: bigint({ mode: 'number' }).notNull(),
    sha256: text().notNull(),
    /** Number of line breaks in the piece. */
    lines: integer().notNull(),
    endsLine: boolean('ends_line').notNull(),
    /** Number of line breaks before the first line that reports an error; null if no line does. */
    errorLine: integer('error_line'),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.outputId, t.start] }),
    foreignKey({ columns: [t.vmId, t.outputId], foreignColumns: [commandOutputs.vmId, commandOutputs.id] }).onDelete(
      'cascade',
    ),
    index('output_pieces_sha256').on(t.sha256),
  ],
);

/** An operator's request for a handler's log folders, and the archive that the agent sent (AZ-G11). */
export const logArchives = pgTable(
  'log_archives',
  {
    vmId: ofVm(),
    id: uuid().notNull(),
    handler: text().notNull(),
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull(),
    requestedBy: text('requested_by').notNull(),
    answeredAt: timestamp('answered_at', { withTimezone: true }),
    /** Digest of the archive; null before the agent responds, and if there were no logs. */
    sha256: text(),
    size: bigint({ mode: 'number' }),
    form: text().$type<'tar.gz' | 'zip'>(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.id] }),
    index('log_archives_requested').on(t.requestedAt),
    index('log_archives_sha256').on(t.sha256).where(sql`${t.sha256} is not null`),
  ],
);
