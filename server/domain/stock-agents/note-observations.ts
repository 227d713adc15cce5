import { eq } from 'drizzle-orm';
import { type AgentObservation, stockAgents } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/** A stock agent's report about one of its components. */
export interface ReportedObservation {
  name: string;
  isHealthy: boolean;
  text: string | null;
}

/** Maximum number of names stored per VM; the agent uses six. */
const most = 8;

/** Stores which components of a stock agent are not healthy, and which have recovered. Returns the VM's stored list. */
export async function noteObservations(
  ctx: Context,
  vmId: string,
  reported: readonly ReportedObservation[],
): Promise<AgentObservation[]> {
  const { observations } = stockAgents;
  const [before] = await ctx.db.select({ observations }).from(stockAgents).where(eq(stockAgents.vmId, vmId));
  if (before === undefined) return [];
  const known = before.observations;
  if (withAll(known, reported, ctx.now) === known) return known;
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx.select({ observations }).from(stockAgents).where(eq(stockAgents.vmId, vmId)).for('update');
    if (row === undefined) return [];
    const kept = withAll(row.observations, reported, ctx.now);
    if (kept === row.observations) return kept;
    await tx.update(stockAgents).set({ observations: kept }).where(eq(stockAgents.vmId, vmId));
    await recordChange(tx, 'vm', vmId);
    return kept;
  });
}

const openOf = (kept: readonly AgentObservation[], name: string): AgentObservation | undefined =>
  kept.find((each) => each.name === name && each.until === null);

/** Whether the reported health differs from the stored health. */
export const hasChangedHealth = (
  kept: readonly AgentObservation[],
  { name, isHealthy }: ReportedObservation,
): boolean => isHealthy === (openOf(kept, name) !== undefined);

/** Returns the stored list after these reports; the same array if nothing is new. */
const withAll = (kept: AgentObservation[], reported: readonly ReportedObservation[], now: Date): AgentObservation[] =>
  reported.reduce((all, each) => withOne(all, each, now), kept);

function withOne(
  kept: AgentObservation[],
  { name, isHealthy, text }: ReportedObservation,
  now: Date,
): AgentObservation[] {
  const at = now.toISOString();
  const open = openOf(kept, name);
  if (open !== undefined) {
    if (!isHealthy && open.text === text) return kept;
    const next = isHealthy ? { ...open, until: at } : { ...open, text };
    return kept.map((each) => (each === open ? next : each));
  }
  if (isHealthy) return kept;
  const others = kept.filter((each) => each.name !== name);
  // If the list is full, the entry of a recovered component is removed. If no component has recovered, the new entry is
  // not stored.
  const oldest = others.length < most ? undefined : others.find(({ until }) => until !== null);
  if (others.length >= most && oldest === undefined) return kept;
  return [...others.filter((each) => each !== oldest), { name, text, since: at, until: null }];
}
