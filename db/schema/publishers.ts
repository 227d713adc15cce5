import { sql } from 'drizzle-orm';
import { pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core';

/** A provider namespace and its human-readable name. */
export const publishers = pgTable(
  'publishers',
  {
    namespace: text().primaryKey(),
    displayName: text('display_name').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  // Prevents namespaces that differ only in case, because they could be confused.
  (t) => [uniqueIndex('publishers_spelling').on(sql`lower(${t.namespace})`)],
);
