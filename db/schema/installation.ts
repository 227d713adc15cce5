import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A single row: the identity of this installation. Written only at startup. */
export const installation = pgTable('installation', {
  id: integer().primaryKey(),
  /** A text that is part of every ETag. It is replaced if the database was restored. */
  epoch: text().notNull(),
  /** System identifier, timeline and OID of the database at the start of the epoch. */
  fingerprint: text().notNull(),
  /** A value derived from ANNEX_SECRET_KEY, so that a start with another key fails. */
  keyCheck: text('key_check').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
});
