import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { agents, models, networks, vmRoles, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setInternalAddress } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { isInNetwork, parseIpv4 } from '#server/domain/topology-rules/addresses.ts';
import { lockVm } from '#server/domain/vms/index.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { completeInstance } from './create-instance.ts';
import { type AdoptMachineInput, adoptMachineInput } from './input.ts';
import { localFabric, networkOf } from './local-fabric.ts';
import { lockModel, type ModelRow, requireBootstrapped } from './model-rows.ts';
import type { CloudProvider } from './provider.ts';
import { type Reservation, reserveInstanceIn } from './reserve-instance.ts';

/** A machine whose VM existed before. */
export const adoptedMachine = z
  .object({
    machine: count.describe('The number of the machine in its model.'),
    vmId,
    vm: z.string().describe('The name of the VM.'),
    instanceId: z.string(),
    cloudService: z.string(),
    assignedAddress: z.string().describe('The internal address that the provider assigned.'),
  })
  .meta({ id: 'AdoptedMachine' });
export type AdoptedMachine = z.infer<typeof adoptedMachine>;

/**
 * Adopts an enrolled VM as a machine of a model without availability sets. Its name, tags and extensions stay as they
 * are, even when the machine is removed (JU-37). Throws 404 `model_unknown` | `vm_unknown`, 409 `model_dying` |
 * `model_not_bootstrapped` | `machine_placement_unsupported` | `vm_in_model` | `vm_not_enrolled` | `vm_has_stock_agent`
 * | `vm_decommissioning` | `machine_removed`, 412 `model_changed`, 422 `address_outside_network`, 503 `provider_failed`.
 */
export async function adoptMachine(
  ctx: Context,
  input: AdoptMachineInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<AdoptedMachine> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch, vmId: id, address } = parse(adoptMachineInput, input);
  for (;;) {
    const { model, reserved } = await ctx.db.transaction(async (tx) => {
      const locked = await lockModel(tx, name, ifMatch);
      requireBootstrapped(locked);
      const vm = await requireVm(tx, id);
      if (address !== undefined) await requireInside(tx, ctx, locked, address);
      const placed = await reserveInstanceIn(tx, ctx, locked.id, { kind: 'machine', adopts: { id, name: vm.name } });
      if (address !== undefined) await setInternalAddress(tx, id, address);
      await record(tx, ctx, locked, placed);
      return { model: locked, reserved: placed };
    });
    const created = await completeInstance(ctx, provider, model, reserved);
    // Null if the name of the cloud service is taken at the provider; then another one is drawn.
    if (created === null) continue;
    const { role, instanceId, assignedAddress } = created;
    const { machine, cloudService } = role;
    return { machine, vmId: id, vm: created.vm.name, instanceId, cloudService, assignedAddress };
  }
}

/** Locks a VM that can become a machine. */
async function requireVm(tx: Transaction, id: string): Promise<{ name: string }> {
  const vm = await lockVm(tx, id);
  const [found] = await tx
    .select({ kind: agents.kind, model: models.name, decommissioningAt: vms.decommissioningAt })
    .from(vms)
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(vmRoles, eq(vmRoles.vmId, vms.id))
    .leftJoin(models, eq(models.id, vmRoles.modelId))
    .where(eq(vms.id, id));
  if (found?.model) throw new DomainError('conflict', 'vm_in_model', { params: { model: found.model } });
  if (found?.decommissioningAt) throw new DomainError('conflict', 'vm_decommissioning');
  if (found?.kind === 'stock') throw new DomainError('conflict', 'vm_has_stock_agent');
  if (!found?.kind) throw new DomainError('conflict', 'vm_not_enrolled');
  return vm;
}

/** Rejects an address outside of the network of a model, and an address of the fabric. */
async function requireInside(tx: Transaction, ctx: Context, { network }: ModelRow, text: string): Promise<void> {
  const [row] = await tx.select({ cidr: networks.cidr }).from(networks).where(eq(networks.name, network));
  const address = parseIpv4(text);
  const isInside = address !== null && row !== undefined && isInNetwork(networkOf(row.cidr), address);
  if (isInside && !isInNetwork(networkOf(ctx.config.fabric.addresses), address)) return;
  const faults = [{ path: '/address', code: 'address_outside_network' as const }];
  throw new DomainError('unprocessable', 'address_outside_network', { faults });
}

async function record(tx: Transaction, ctx: Context, model: ModelRow, { role, vm, instanceId }: Reservation) {
  await recordAudit(tx, ctx, {
    action: 'machine.adopt',
    target: { kind: 'model', id: model.name },
    vmId: vm.id,
    after: { machine: role.machine, instanceId, vm: vm.name },
    details: { machine: role.machine, vm: vm.name },
  });
  await recordChange(tx, 'vm', vm.id);
}
