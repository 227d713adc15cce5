import { inArray } from 'drizzle-orm';
import { agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { listVms, type Vm } from '#server/domain/vms/index.ts';
import type { ListVmsInput } from '#server/domain/vms/input.ts';
import { listHealth, type VmHealthSummary } from './list-health.ts';

/** A VM in a list: what it is called and how it is. */
export type FleetRow = Vm & VmHealthSummary & { agentVersion: string | null };

/** A page of VMs by name, each with its health and that of its extensions as of now. */
export async function listFleet(
  ctx: Context,
  input: ListVmsInput,
): Promise<{ items: FleetRow[]; nextCursor: string | null }> {
  const { items, nextCursor } = await listVms(ctx, input);
  const ids = items.map((vm) => vm.id);
  const [health, versions] = await Promise.all([listHealth(ctx, ids), agentVersions(ctx, ids)]);
  const never: VmHealthSummary = { health: 'unknown', agent: { status: 'never', lastSeenAt: null }, extensions: [] };
  return {
    items: items.map((vm) => ({
      ...vm,
      ...(health.get(vm.id) ?? never),
      agentVersion: versions.get(vm.id) ?? null,
    })),
    nextCursor,
  };
}

async function agentVersions(ctx: Context, vmIds: string[]): Promise<Map<string, string>> {
  if (vmIds.length === 0) return new Map();
  const rows = await ctx.db
    .select({ vmId: agents.vmId, version: agents.version })
    .from(agents)
    .where(inArray(agents.vmId, vmIds));
  return new Map(rows.map((row) => [row.vmId, row.version]));
}
