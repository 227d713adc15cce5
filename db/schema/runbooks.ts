import { integer, json, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import type { VersionState } from './packages.ts';

const time = (name: string) => timestamp(name, { withTimezone: true });

/** Saved execution plans. Their contents are in `runbook_versions`. */
export const runbooks = pgTable('runbooks', {
  name: text().primaryKey(),
  createdAt: time('created_at').notNull(),
  createdBy: text('created_by').notNull(),
});

/** Versions of runbooks. A version never changes after it is published. */
export const runbookVersions = pgTable(
  'runbook_versions',
  {
    runbook: text()
      .notNull()
      .references(() => runbooks.name),
    /** A semantic version without build metadata. */
    version: text().notNull(),
    state: text().$type<VersionState>().notNull(),
    title: text().notNull(),
    description: text().notNull(),
    /** The plan's JSON without `ID` and `Stamp`, with its properties in their original order. */
    plan: text().notNull(),
    /** JSON Schema of the parameters; null if the runbook accepts none. `json` keeps the order of the properties. */
    parameters: json().$type<Record<string, unknown>>(),
    timeoutSeconds: integer('timeout_seconds').notNull(),
    validForSeconds: integer('valid_for_seconds').notNull(),
    /** SHA-256 of the contents, in hexadecimal. Equal contents have equal digests. */
    sha256: text().notNull(),
    savedAt: time('saved_at').notNull(),
    savedBy: text('saved_by').notNull(),
    publishedAt: time('published_at'),
    publishedBy: text('published_by'),
    withdrawnAt: time('withdrawn_at'),
    withdrawnBy: text('withdrawn_by'),
    withdrawnReason: text('withdrawn_reason'),
  },
  (t) => [primaryKey({ columns: [t.runbook, t.version] })],
);
