import { sql } from 'drizzle-orm';
import { pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core';

/** A provider namespace and the name that people read. */
export const publishers = pgTable(
  'publishers',
  {
    namespace: text().primaryKey(),
    displayName: text('display_name').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  // Two namespaces that differ in case only would pass for each other.
  (t) => [uniqueIndex('publishers_spelling').on(sql`lower(${t.namespace})`)],
);
