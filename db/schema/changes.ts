import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Changes, for open screens; short-lived, cleared by the worker. */
export const changes = pgTable('changes', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  /** The kind of object: `vm`, `handler`, `publisher`, `member`, `token`. */
  topic: text().notNull(),
  /** Its id. */
  key: text().notNull(),
});
