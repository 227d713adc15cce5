import { and, eq, isNull, not, or, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensions, goalStateHeads } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';

/** What a poll finds: only the ETag where the agent has that goal state already. */
export interface FetchedGoalState {
  etag: string;
  incarnation: number;
  /** The bytes to send; null where `ifNoneMatch` is the goal state in force. */
  text: string | null;
}

const current = {
  name: 'goal-state-etag',
  text: 'select etag, incarnation from goal_state_heads where vm_id = $1',
};

/**
 * A poll: one statement where nothing is new, and a short transaction where something goes out.
 * Null for a VM without a goal state.
 */
export async function fetchGoalState(
  db: Database,
  vmId: string,
  ifNoneMatch: string | null,
  now: Date,
): Promise<FetchedGoalState | null> {
  if (ifNoneMatch !== null) {
    const { rows } = await db.$client.query<{ etag: string; incarnation: number }>({ ...current, values: [vmId] });
    const [row] = rows;
    if (!row) return null;
    if (row.etag === ifNoneMatch) return { ...row, text: null };
  }
  return db.transaction(async (tx) => {
    // The row's lock makes the text that is returned the newest committed one, and marks exactly that as delivered:
    // whoever removes an extension takes the same lock and knows for sure whether it ever went out.
    const [head] = await tx
      .update(goalStateHeads)
      .set({
        deliveredAt: sql`case when delivered_incarnation = incarnation then delivered_at else ${now} end`,
        deliveredIncarnation: sql`incarnation`,
      })
      .where(eq(goalStateHeads.vmId, vmId))
      .returning({
        etag: goalStateHeads.etag,
        incarnation: goalStateHeads.incarnation,
        text: goalStateHeads.text,
      });
    const delivered = await tx
      .update(extensions)
      .set({ deliveredAt: sql`coalesce(delivered_at, ${now})`, everDelivered: true })
      .where(and(eq(extensions.vmId, vmId), or(isNull(extensions.deliveredAt), not(extensions.everDelivered))));
    // Deadlines count from the delivery on.
    if ((delivered.rowCount ?? 0) > 0) await recordChange(tx, 'vm', vmId);
    return head ?? null;
  });
}
