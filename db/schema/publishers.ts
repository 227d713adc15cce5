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
  // Namespaces that differ only in case would be confused.
  (t) => [uniqueIndex('publishers_spelling').on(sql`lower(${t.namespace})`)],
);
