import { and, eq, isNull, not, or, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensions, goalStateHeads } from '#db/schema/index.ts';
import { changesChannel, insertVmChangesSql, markHealthDueSql, recordChange } from '#server/domain/changes/index.ts';
import { tellsByStatement } from '#server/platform/wakes/index.ts';

/** A goal state as it is sent. */
export interface FetchedGoalState {
  etag: string;
  /** The bytes to send. */
  text: string;
}

interface Delivered extends FetchedGoalState {
  /** It was sent before, or is marked as sent now; false if a newer one was published in between. */
  isNoted: boolean;
}

/** Whether the text contains an extension: one without its protected settings is left out, and was not delivered. */
const isRendered = `(extensions.secret_id is null or exists (
  select from secrets s where s.vm_id = extensions.vm_id and s.id = extensions.secret_id and s.cms is not null))`;

/**
 * $1 the VM, $2 the time, $3 whether to notify. Deadlines count from delivery, so the first delivery is a change of the
 * VM.
 */
const deliver = {
  name: 'goal-state-deliver',
  text: `
with head as materialized (
  select etag, text, incarnation, delivered_incarnation = incarnation as is_known from goal_state_heads where vm_id = $1
), noted as (
  update goal_state_heads h set delivered_at = $2, delivered_incarnation = h.incarnation
    from head where h.vm_id = $1 and h.incarnation = head.incarnation and not head.is_known returning h.incarnation
), marked as (
  update extensions set delivered_at = coalesce(delivered_at, $2), ever_delivered = true
   where vm_id = $1 and (delivered_at is null or not ever_delivered) and exists (select from noted) and ${isRendered}
  returning vm_id
), change as (
  ${insertVmChangesSql('select vm_id from marked limit 1')}
), checked as (
  ${markHealthDueSql('select key::uuid from change')}
)
select etag, text, is_known or exists (select from noted) as "isNoted",
  (select count(pg_notify('${changesChannel}', json_build_object('topic', 'vm', 'key', key)::text)) from change)
  from head`,
};

/**
 * Reads the goal state in force and marks it as delivered before it is sent, so that a removal knows whether the agent
 * ever saw the extension. One statement, which writes nothing if it was sent before. Null for a VM without a goal
 * state.
 */
export async function fetchGoalState(db: Database, vmId: string, now: Date): Promise<FetchedGoalState | null> {
  if (tellsByStatement(db)) {
    const { rows } = await db.$client.query<Delivered>({ ...deliver, values: [vmId, now] });
    const [row] = rows;
    if (row === undefined) return null;
    if (row.isNoted) return row;
  }
  return db.transaction(async (tx) => {
    // The row lock ensures that the newest committed text is returned, and exactly that text marked as delivered.
    const [head] = await tx
      .update(goalStateHeads)
      .set({
        deliveredAt: sql`case when delivered_incarnation = incarnation then delivered_at else ${now} end`,
        deliveredIncarnation: sql`incarnation`,
      })
      .where(eq(goalStateHeads.vmId, vmId))
      .returning({ etag: goalStateHeads.etag, text: goalStateHeads.text });
    const delivered = await tx
      .update(extensions)
      .set({ deliveredAt: sql`coalesce(delivered_at, ${now})`, everDelivered: true })
      .where(
        and(
          eq(extensions.vmId, vmId),
          or(isNull(extensions.deliveredAt), not(extensions.everDelivered)),
          sql.raw(isRendered),
        ),
      );
    if ((delivered.rowCount ?? 0) > 0) await recordChange(tx, 'vm', vmId);
    return head ?? null;
  });
}
