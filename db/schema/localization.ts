import { bigint, foreignKey, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { handlerVersions, type StoredWarning } from './packages.ts';

/** The messages of one handler version in one language (AZ-L1). */
export const resources = pgTable(
  'resources',
  {
    handler: text().notNull(),
    version: text().notNull(),
    /** Canonical BCP 47, for example `de-AT`. */
    lang: text().notNull(),
    /** Text by message id. */
    messages: jsonb().$type<Record<string, string>>().notNull(),
    warnings: jsonb().$type<StoredWarning[]>().notNull(),
    /** Rises with every change, to detect concurrent edits of a language. */
    revision: integer().notNull().default(1),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.handler, t.version, t.lang] }),
    foreignKey({
      columns: [t.handler, t.version],
      foreignColumns: [handlerVersions.handler, handlerVersions.version],
    }).onDelete('cascade'),
  ],
);

/**
 * Message ids that VMs reported, by handler version, for the list of unknown messages. The worker collects them from the
 * history, so that reports do not pay for it; bounded per version.
 */
export const reportedMessages = pgTable(
  'reported_messages',
  {
    handler: text().notNull(),
    version: text().notNull(),
    id: text().notNull(),
    /** The last ones, cut. */
    params: jsonb().$type<string[]>().notNull(),
    /** Number of documents with it, not counting repeated ones. */
    reports: integer().notNull(),
    firstSeenAt: timestamp('first_seen_at', { withTimezone: true }).notNull(),
    lastSeenAt: timestamp('last_seen_at', { withTimezone: true }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.handler, t.version, t.id] }),
    foreignKey({
      columns: [t.handler, t.version],
      foreignColumns: [handlerVersions.handler, handlerVersions.version],
    }).onDelete('cascade'),
  ],
);

/** One row: the last entry of the history whose message ids have been collected. */
export const messageCursors = pgTable('message_cursors', {
  id: integer().primaryKey(),
  historyId: bigint('history_id', { mode: 'number' }).notNull(),
});
