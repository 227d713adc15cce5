import { sql } from 'drizzle-orm';
import { index, json, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

/** Start and end of a past hold, in ISO 8601. */
export type PastHold = readonly [from: string, to: string];

/**
 * The current hold of a VM, and its past holds, during which deadlines were paused. A VM that was never held has no
 * row.
 */
export const holds = pgTable(
  'holds',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    /** When the current hold began. If null, the VM is not held, and `reason`, `by` and `until` are null too. */
    since: timestamp({ withTimezone: true }),
    /** Why the VM is held; null if no reason was given. */
    reason: text(),
    by: text(),
    /** When the portal ends the hold. If null, it lasts until a person releases it. */
    until: timestamp({ withTimezone: true }),
    /** Past holds, oldest first. */
    past: json().$type<PastHold[]>().notNull().default([]),
    /** When the hold was last set, changed or released. Gateways use it to find changes that they may have missed. */
    changedAt: timestamp('changed_at', { withTimezone: true }).notNull(),
  },
  (t) => [index('holds_until').on(t.until).where(sql`${t.until} is not null`), index('holds_changed').on(t.changedAt)],
);
