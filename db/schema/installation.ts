import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** One row: the identity of this installation. Written only at startup. */
export const installation = pgTable('installation', {
  id: integer().primaryKey(),
  /** Part of every ETag; replaced when the database turns out to be a restored one. */
  epoch: text().notNull(),
  /** System identifier, timeline and database id when the epoch began. */
  fingerprint: text().notNull(),
  /** Derived from ANNEX_SECRET_KEY; a start with another key fails on it. */
  keyCheck: text('key_check').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
});
