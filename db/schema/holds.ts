import { sql } from 'drizzle-orm';
import { index, json, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

/** Begin and end of a hold that is over, ISO 8601. */
export type PastHold = readonly [from: string, to: string];

/** The hold of a VM, and its past holds, during which deadlines stood still. VMs that were never held have no row. */
export const holds = pgTable(
  'holds',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    /** Null: the VM is not held now, and the next three columns are null too. */
    since: timestamp({ withTimezone: true }),
    /** Null where none was given. */
    reason: text(),
    by: text(),
    /** When the portal ends it; null: when a person does. */
    until: timestamp({ withTimezone: true }),
    /** Oldest first. */
    past: json().$type<PastHold[]>().notNull().default([]),
    /** When it was last set, changed or released: gateways look up changes that they may have missed. */
    changedAt: timestamp('changed_at', { withTimezone: true }).notNull(),
  },
  (t) => [index('holds_until').on(t.until).where(sql`${t.until} is not null`), index('holds_changed').on(t.changedAt)],
);
