import { json, pgTable, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

/** Start and end of a past period in which an execution held a VM's lane, in ISO 8601. */
export type LaneTime = readonly [from: string, to: string];

/**
 * When executions held a VM's lane, so that no command of an extension could run. During these times, deadlines of
 * extensions are paused. A VM on which no execution has run has no row.
 */
export const laneTimes = pgTable('lane_times', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** When the current execution took the lane; null if none holds it. */
  takenAt: timestamp('taken_at', { withTimezone: true }),
  /** The past periods that can still move a deadline, oldest first. */
  past: json().$type<LaneTime[]>().notNull().default([]),
});
