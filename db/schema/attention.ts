import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { users } from './auth.ts';

/**
 * What people decided about the problems on the page *Needs attention*: who works on a problem, and when its snooze
 * ends. A problem without a decision has no row.
 */
export const attentionMarks = pgTable(
  'attention_marks',
  {
    /** The key of the problem (`FleetProblem.key`). */
    key: text().primaryKey(),
    /** The member who works on the problem; null if there is none, or if the member was removed. */
    assigneeId: text('assignee_id').references(() => users.id, { onDelete: 'set null' }),
    assignedBy: text('assigned_by'),
    assignedAt: timestamp('assigned_at', { withTimezone: true }),
    /**
     * When the problem was snoozed. If null, the problem is not snoozed, and the other `snoozed` columns are null too.
     */
    snoozedAt: timestamp('snoozed_at', { withTimezone: true }),
    snoozedBy: text('snoozed_by'),
    /** When the snooze ends. If null, it ends when the problem changes. */
    snoozedUntil: timestamp('snoozed_until', { withTimezone: true }),
    /**
     * The number of VMs and the versions that the problem had when it was snoozed. The problem has changed if it has
     * more VMs or other versions now.
     */
    snoozedVms: integer('snoozed_vms'),
    snoozedVersions: text('snoozed_versions').array(),
    /**
     * When the problem disappeared from its last VM; null while at least one VM has it. The row is deleted some time
     * later.
     */
    goneAt: timestamp('gone_at', { withTimezone: true }),
  },
  (t) => [index('attention_marks_assignee').on(t.assigneeId).where(sql`${t.assigneeId} is not null`)],
);
