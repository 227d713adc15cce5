import { and, eq, isNull, not, or, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensions, goalStateHeads } from '#db/schema/index.ts';
import { changesChannel, insertVmChangesSql, markHealthDueSql, recordChange } from '#server/domain/changes/index.ts';
import { tellsByStatement } from '#server/platform/wakes/index.ts';

/** A goal state as the agent receives it. */
export interface FetchedGoalState {
  etag: string;
  /** The response body. */
  text: string;
}

interface Delivered extends FetchedGoalState {
  /**
   * Whether this goal state was sent before or is now marked as sent. False if a newer goal state was published or the
   * VM was put on hold in the meantime.
   */
  isNoted: boolean;
}

/**
 * SQL for whether the text contains the extension. The text omits an extension whose protected settings cannot be
 * delivered, so that extension was not delivered.
 */
const isRendered = `(extensions.secret_id is null or exists (
  select from secrets s where s.vm_id = extensions.vm_id and s.id = extensions.secret_id and s.cms is not null))`;

/** SQL for the text that a held VM gets; null if the VM is not held. */
const heldText = `(select g.text from goal_states g
  where g.vm_id = goal_state_heads.vm_id and g.incarnation = goal_state_heads.held_incarnation)`;

/** $1 is the VM, $2 the time. Deadlines count from the delivery, so the first delivery counts as a change of the VM. */
const deliver = {
  name: 'goal-state-deliver',
  text: `
with head as materialized (
  select coalesce(held_etag, etag) as etag, coalesce(${heldText}, text) as text, incarnation,
    held_incarnation is not null or delivered_incarnation = incarnation as is_known
    from goal_state_heads where vm_id = $1
), noted as (
  update goal_state_heads h set delivered_at = $2, delivered_incarnation = h.incarnation
    from head where h.vm_id = $1 and h.incarnation = head.incarnation and not head.is_known
     and h.held_incarnation is null returning h.incarnation
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
 * Reads the current goal state and marks it as delivered before it is sent, so that a removal knows whether the agent
 * ever saw the extension. While the VM is held, reads the goal state that the agent has. Without NATS, usually runs one
 * statement, which writes nothing if the goal state was sent before. Returns null if the VM has no goal state.
 */
export async function fetchGoalState(db: Database, vmId: string, now: Date): Promise<FetchedGoalState | null> {
  if (tellsByStatement(db)) {
    const { rows } = await db.$client.query<Delivered>({ ...deliver, values: [vmId, now] });
    const [row] = rows;
    if (row === undefined) return null;
    if (row.isNoted) return row;
  }
  return db.transaction(async (tx) => {
    // The row lock ensures that the returned text is the newest, and that exactly this text is marked as delivered.
    const [head] = await tx
      .update(goalStateHeads)
      .set({
        deliveredAt: sql`case when delivered_incarnation = incarnation or held_incarnation is not null
          then delivered_at else ${now} end`,
        deliveredIncarnation: sql`case when held_incarnation is null then incarnation else delivered_incarnation end`,
      })
      .where(eq(goalStateHeads.vmId, vmId))
      .returning({
        etag: sql<string>`coalesce(held_etag, etag)`,
        text: sql<string>`coalesce(${sql.raw(heldText)}, text)`,
        isHeld: sql<boolean>`held_incarnation is not null`,
      });
    if (head === undefined) return null;
    const { isHeld, ...goalState } = head;
    if (isHeld) return goalState;
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
    return goalState;
  });
}
