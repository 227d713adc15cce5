import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { models, networks, vmRoles, vms } from '#db/schema/index.ts';
import { type InstanceReport, instanceReport } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type BindInstance, setInternalAddress } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { checkInstance, isInNetwork } from '#server/domain/topology-rules/addresses.ts';
import { tellFabric } from './endpoint-rows.ts';
import { networkOf } from './local-fabric.ts';

/**
 * Checks that a machine may become the instance of its VM's role, and returns its internal address (JU-19). The
 * enrollment token names the VM, so a second agent can claim no role. Throws 409 `instance_claimed`, 422
 * `instance_missing` | `instance_other_role` | `instance_unknown` | `address_outside_network`.
 */
export const bindInstance: BindInstance = async (tx, ctx, vmId, reported) => {
  const vm = await readVm(tx, vmId);
  const isOthers = reported !== null && (await isOfOtherVm(tx, vmId, reported.id));
  const addresses = networkOf(ctx.config.fabric.addresses);
  const refusal = checkInstance(
    { instanceId: vm?.instanceId ?? null, network: vm?.cidr ? networkOf(vm.cidr) : null },
    reported,
    () => isOthers,
    (address) => isInNetwork(addresses, address),
  );
  if (refusal !== null) {
    const path = refusal === 'address_outside_network' ? '/instance/address' : '/instance/id';
    const kind = refusal === 'instance_claimed' ? 'conflict' : 'unprocessable';
    throw new DomainError(kind, refusal, { faults: [{ path, code: refusal }] });
  }
  if (vm?.model) await recordChange(tx, 'model', vm.model);
  if (vm?.service) await tellFabric(tx, vm.service);
  return reported?.address ?? null;
};

async function readVm(tx: Transaction, vmId: string) {
  const [vm] = await tx
    .select({ instanceId: vms.instanceId, cidr: networks.cidr, model: models.name, service: vmRoles.cloudService })
    .from(vms)
    .leftJoin(vmRoles, eq(vmRoles.vmId, vms.id))
    .leftJoin(models, eq(models.id, vmRoles.modelId))
    .leftJoin(networks, eq(networks.name, models.network))
    .where(eq(vms.id, vmId));
  return vm;
}

async function isOfOtherVm(tx: Transaction, vmId: string, instanceId: string): Promise<boolean> {
  const [owner] = await tx
    .select({ id: vms.id })
    .from(vms)
    .where(and(eq(vms.instanceId, instanceId), isNull(vms.deletedAt)));
  return owner !== undefined && owner.id !== vmId;
}

/** Stores a changed internal address of an instance, which its agent reports. The rules are those of enrollment. */
export async function moveInstance(ctx: Context, vmId: string, input: unknown): Promise<void> {
  const reported: InstanceReport = parse(instanceReport, input, 'bad_request');
  await ctx.db.transaction(async (tx) => {
    const address = await bindInstance(tx, ctx, vmId, reported);
    if (address === null) return;
    await setInternalAddress(tx, vmId, address);
    await recordChange(tx, 'vm', vmId);
  });
}
