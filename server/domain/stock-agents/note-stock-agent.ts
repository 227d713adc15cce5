import { eq } from 'drizzle-orm';
import { stockAgents } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { describeStockAgent } from '#server/domain/enrollment/index.ts';
import type { StockAgentNews } from './deliver-goal-state.ts';

/** Stores a stock agent's report about itself, and notifies open pages. Call it only if the report changed. */
export async function noteStockAgent(
  ctx: Context,
  vmId: string,
  { version, os, settled }: StockAgentNews,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await describeStockAgent(tx, vmId, { version, os });
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
