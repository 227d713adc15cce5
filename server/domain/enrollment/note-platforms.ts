import { and, eq, sql } from 'drizzle-orm';
import { agents } from '#db/schema/index.ts';
import { machinePlatforms } from '#protocol/executions/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';

/**
 * Stores an agent's report of what the VM's machine can run. Agents send the report when they start, if it has changed.
 * Throws 400 `invalid` with every fault.
 */
export async function notePlatforms(ctx: Context, vmId: string, input: unknown): Promise<void> {
  const platforms = parse(machinePlatforms, input, 'bad_request');
  await ctx.db.transaction(async (tx) => {
    const changed = await tx
      .update(agents)
      .set({ platforms })
      .where(and(eq(agents.vmId, vmId), sql`${agents.platforms} is distinct from ${JSON.stringify(platforms)}::jsonb`));
    if (changed.rowCount !== 0) await recordChange(tx, 'execution', vmId);
  });
}
