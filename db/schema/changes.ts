import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** What changed, for screens that are open elsewhere; short-lived, the worker clears it. */
export const changes = pgTable('changes', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  /** The kind of thing: `vm`, `handler`, `publisher`, `member`, `token`. */
  topic: text().notNull(),
  /** Which one: its id. */
  key: text().notNull(),
});
