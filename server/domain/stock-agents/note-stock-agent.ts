import { and, eq } from 'drizzle-orm';
import { agents, stockAgents } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { StockAgentNews } from './hand-out-goal-state.ts';

/** Writes down what a stock agent says of itself, where that became another. */
export async function noteStockAgent(
  ctx: Context,
  vmId: string,
  { version, os, settled }: StockAgentNews,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await tx
      .update(agents)
      .set({ version, os })
      .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'stock')));
    if (settled !== null) {
      await tx
        .update(stockAgents)
        .set({
          settledIncarnation: settled.incarnation,
          settledAt: ctx.now,
          settledStatus: settled.status,
          settledMessage: settled.message,
        })
        .where(eq(stockAgents.vmId, vmId));
    }
    await recordChange(tx, 'vm', vmId);
  });
}
