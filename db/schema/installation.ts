import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A single row: the identity of this installation. Written only at startup and when the secret key is changed. */
export const installation = pgTable('installation', {
  id: integer().primaryKey(),
  /** Part of every ETag. Replaced if the database was restored. */
  epoch: text().notNull(),
  /** System identifier, timeline and OID of the database at the start of the epoch. */
  fingerprint: text().notNull(),
  /** A value derived from ANNEX_SECRET_KEY, so that a start with another key fails. */
  keyCheck: text('key_check').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
});
