import { eq } from 'drizzle-orm';
import { type AgentSighting, stockAgents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { noteDuplicate } from '#server/domain/enrollment/index.ts';
import { areTwoMachines, withSighting } from './two-machines.ts';

/**
 * Records which machine called as the agent of a stock VM, through any gateway. If two machines alternate, the VM's
 * page shows a second machine, and the activity log records the second machine. Returns all sightings; null if the VM
 * has no stock agent.
 */
export async function noteSighting(
  ctx: Context,
  vmId: string,
  seen: Pick<AgentSighting, 'kind' | 'mark'>,
): Promise<AgentSighting[] | null> {
  const sightings = await ctx.db.transaction(async (tx) => {
    const its = eq(stockAgents.vmId, vmId);
    const [row] = await tx
      .select({ sightings: stockAgents.sightings })
      .from(stockAgents)
      .where(its)
      .for('no key update');
    if (row === undefined) return null;
    const next = withSighting(row.sightings, seen, ctx.now);
    if (next !== null) await tx.update(stockAgents).set({ sightings: next }).where(its);
    return next ?? row.sightings;
  });
  if (sightings !== null && areTwoMachines(sightings, seen.kind, ctx.now)) {
    await noteDuplicate(ctx, vmId, 'wire-access.duplicate');
  }
  return sightings;
}
