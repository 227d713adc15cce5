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
    /** Rises with every change, so that two people at one language see each other. */
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
 * Message ids that VMs reported, by the version that said them: what the inbox of unknown messages is read from.
 * Gathered from the history by the worker, never by a report on its way in; bounded per version.
 */
export const reportedMessages = pgTable(
  'reported_messages',
  {
    handler: text().notNull(),
    version: text().notNull(),
    id: text().notNull(),
    /** As they came last, cut. */
    params: jsonb().$type<string[]>().notNull(),
    /** Documents that said it; one that says the same as the one before is none. */
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

/** One row: up to which entry of the history message ids have been gathered. */
export const messageCursors = pgTable('message_cursors', {
  id: integer().primaryKey(),
  historyId: bigint('history_id', { mode: 'number' }).notNull(),
});
