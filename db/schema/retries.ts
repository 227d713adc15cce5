import { bigint, index, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

/** Repeated retries: at most one series per extension, deleted when it ends. */
export const retrySeries = pgTable(
  'retry_series',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    name: text().notNull(),
    everyMinutes: integer('every_minutes').notNull(),
    /**
     * The maximum number of automatic retries, and the number done so far. The retry that a person started does not
     * count.
     */
    times: integer().notNull(),
    done: integer().notNull().default(0),
    nextAt: timestamp('next_at', { withTimezone: true }).notNull(),
    /** The sequence number of the last retry. Any other number means that someone changed the extension. */
    sequenceNumber: bigint('sequence_number', { mode: 'number' }).notNull(),
    /** SHA-256 of the declaration, to detect changes that keep the sequence number. */
    digest: text().notNull(),
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    startedBy: text('started_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.name] }), index('retry_series_next').on(t.nextAt)],
);
