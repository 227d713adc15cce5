import { foreignKey, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
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
