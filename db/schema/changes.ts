import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Recent changes, for open pages. The worker deletes old ones. */
export const changes = pgTable('changes', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  /** The kind of object: `vm`, `handler`, `publisher`, `member`, `token`. */
  topic: text().notNull(),
  /** Id of the object. */
  key: text().notNull(),
});
