import { pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A provider namespace and the name that people read. */
export const publishers = pgTable('publishers', {
  namespace: text().primaryKey(),
  displayName: text('display_name').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
});
