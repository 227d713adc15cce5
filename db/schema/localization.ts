import { bigint, foreignKey, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { handlerVersions, type StoredWarning } from './packages.ts';

/** The messages of one handler version in one language (AZ-L1). */
export const resources = pgTable(
  'resources',
  {
    handler: text().notNull(),
    version: text().notNull(),
    /** BCP 47 tag in canonical form, for example `de-AT`. */
    lang: text().notNull(),
    /** Message texts by message id. */
    messages: jsonb().$type<Record<string, string>>().notNull(),
    warnings: jsonb().$type<StoredWarning[]>().notNull(),
    /** A number that increases with every change, to detect concurrent edits of a language. */
    revision: integer().notNull().default(1),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    updatedBy: text('updated_by').notNull(),
    /** The version from which the messages were carried over; null once someone edits them. */
    carriedFrom: text('carried_from'),
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
 * Message ids that VMs reported, by handler version, for the list of unknown messages. The worker collects them from
 * the history, so that reports are not slowed down. Their number is limited per version.
 */
export const reportedMessages = pgTable(
  'reported_messages',
  {
    handler: text().notNull(),
    version: text().notNull(),
    id: text().notNull(),
    /** The params of the last report, truncated. */
    params: jsonb().$type<string[]>().notNull(),
    /** Number of documents with this message id. Repeated documents are not counted. */
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

/** A single row: the last history entry whose message ids were collected. */
export const messageCursors = pgTable('message_cursors', {
  id: integer().primaryKey(),
  historyId: bigint('history_id', { mode: 'number' }).notNull(),
});
