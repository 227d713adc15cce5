import { and, eq } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { goalStateHeads, goalStates } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';

/** The incarnation of the current goal state, and the goal state that the agent has. */
interface PeekedGoalState {
  etag: string;
  incarnation: number;
  /** The goal state as sent; null if none was sent. */
  delivered: GoalState | null;
}

/**
 * Returns the current incarnation and the goal state that the agent has, without delivering anything. Null if the VM
 * has no goal state.
 */
export async function peekGoalState(db: Database, vmId: string): Promise<PeekedGoalState | null> {
  const { etag, incarnation, deliveredIncarnation } = goalStateHeads;
  const [row] = await db
    .select({ etag, incarnation, text: goalStates.text })
    .from(goalStateHeads)
    .leftJoin(
      goalStates,
      and(eq(goalStates.vmId, goalStateHeads.vmId), eq(goalStates.incarnation, deliveredIncarnation)),
    )
    .where(eq(goalStateHeads.vmId, vmId));
  if (row === undefined) return null;
  const { text, ...head } = row;
  return { ...head, delivered: text === null ? null : (JSON.parse(text) as GoalState) };
}
