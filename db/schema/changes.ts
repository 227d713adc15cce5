import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Recent changes, used to update open pages. The worker deletes old ones. */
export const changes = pgTable('changes', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  /** The kind of object, such as `vm` or `handler`. */
  topic: text().notNull(),
  /** Id of the object; `*` if many objects changed together. */
  key: text().notNull(),
});
