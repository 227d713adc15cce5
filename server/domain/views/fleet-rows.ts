import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { AgentOs } from '#db/schema/enrollment.ts';
import { agentPresence, agents, goalStateHeads, vmHealth, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type Vm, vmOf } from '#server/domain/vms/index.ts';
import { type ReadFleetRowsInput, readFleetRowsInput } from './input.ts';
import { listHealth, type VmHealthSummary } from './list-health.ts';

/** A VM in a list: what it is called, how it is, and what runs there. */
export type FleetRow = Vm &
  VmHealthSummary & {
    agentVersion: string | null;
    os: AgentOs | null;
    /** Incarnation of its goal state; null before the first. */
    goalState: number | null;
    /** The agent's clock minus the portal's, seconds. */
    clockSkewSeconds: number | null;
    /** Since when it has the health by which lists sort; null until that was worked out. */
    since: string | null;
  };

/** These VMs as they are now, in this order; one that is gone is left out. */
export async function fleetRows(ctx: Context, vmIds: readonly string[]): Promise<FleetRow[]> {
  if (vmIds.length === 0) return [];
  const ids = [...vmIds];
  const [health, facts] = await Promise.all([listHealth(ctx, ids), selectFacts(ctx, ids)]);
  const factsOf = new Map(facts.map((row) => [row.vm.id, row]));
  const never: VmHealthSummary = { health: 'unknown', agent: { status: 'never', lastSeenAt: null }, extensions: [] };
  return ids.flatMap((id) => {
    const row = factsOf.get(id);
    if (row === undefined) return [];
    const { vm, since, ...others } = row;
    return [{ ...vmOf(vm), ...(health.get(id) ?? never), ...others, since: since?.toISOString() ?? null }];
  });
}

/** Rows that a list shows already, read again. */
export async function readFleetRows(ctx: Context, input: ReadFleetRowsInput): Promise<FleetRow[]> {
  allow(ctx.actor, 'viewer');
  return fleetRows(ctx, parse(readFleetRowsInput, input).vmIds);
}

function selectFacts(ctx: Context, ids: string[]) {
  return ctx.db
    .select({
      vm: vms,
      agentVersion: agents.version,
      os: agents.os,
      goalState: goalStateHeads.incarnation,
      clockSkewSeconds: agentPresence.clockSkewSeconds,
      since: vmHealth.since,
    })
    .from(vms)
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, vms.id))
    .leftJoin(agentPresence, eq(agentPresence.vmId, vms.id))
    .leftJoin(vmHealth, eq(vmHealth.vmId, vms.id))
    .where(and(inArray(vms.id, ids), isNull(vms.deletedAt)));
}
