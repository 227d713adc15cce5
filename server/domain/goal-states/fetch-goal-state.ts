import type { Database } from '#db/client.ts';

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

// The row's lock makes the text that is returned the newest committed one, and marks exactly that as delivered:
// whoever removes an extension takes the same lock and knows for sure whether it ever went out.
const deliver = {
  name: 'goal-state-deliver',
  text: `update goal_state_heads
            set delivered_at = case when delivered_incarnation = incarnation then delivered_at else $2 end,
                delivered_incarnation = incarnation
          where vm_id = $1
      returning etag, incarnation, text`,
};
const markDelivered = {
  name: 'goal-state-mark-delivered',
  text: `update extensions set delivered_at = coalesce(delivered_at, $2), ever_delivered = true
          where vm_id = $1 and (delivered_at is null or not ever_delivered)`,
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
  const client = await db.$client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ etag: string; incarnation: number; text: string }>({
      ...deliver,
      values: [vmId, now],
    });
    await client.query({ ...markDelivered, values: [vmId, now] });
    await client.query('commit');
    client.release();
    return rows[0] ?? null;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
