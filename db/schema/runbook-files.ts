import { bigint, foreignKey, index, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { executions } from './executions.ts';

const time = (name: string) => timestamp(name, { withTimezone: true });
/** The columns that describe stored contents. The bytes themselves are in a blob. */
const contents = () => ({
  sha256: text().notNull(),
  size: bigint({ mode: 'number' }).notNull(),
  storedAt: time('stored_at').notNull(),
  storedBy: text('stored_by').notNull(),
});

/** Files that execution plans name by their id (BodyType `ID`), with their current contents. */
export const runbookFiles = pgTable(
  'runbook_files',
  {
    id: text().primaryKey(),
    /** Revision number of the contents, from 1. */
    revision: integer().notNull(),
    ...contents(),
  },
  (t) => [index('runbook_files_sha256').on(t.sha256)],
);

/** Earlier contents of runbook files. */
export const runbookFileRevisions = pgTable(
  'runbook_file_revisions',
  {
    id: text()
      .notNull()
      .references(() => runbookFiles.id, { onDelete: 'cascade' }),
    revision: integer().notNull(),
    ...contents(),
  },
  (t) => [primaryKey({ columns: [t.id, t.revision] }), index('runbook_file_revisions_sha256').on(t.sha256)],
);

/** The contents that the files of an execution had when it was queued. The machine gets these bytes (MU-56). */
export const executionFiles = pgTable(
  'execution_files',
  {
    vmId: uuid('vm_id').notNull(),
    executionId: uuid('execution_id').notNull(),
    /** The id of the file in the plan. */
    file: text().notNull(),
    /** The id of the runbook file. */
    runbookFile: text('runbook_file').notNull(),
    sha256: text().notNull(),
    size: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.executionId, t.file] }),
    foreignKey({
      columns: [t.vmId, t.executionId],
      foreignColumns: [executions.vmId, executions.id],
      name: 'execution_files_execution',
    }).onDelete('cascade'),
    index('execution_files_sha256').on(t.sha256),
    index('execution_files_runbook_file').on(t.runbookFile),
  ],
);
