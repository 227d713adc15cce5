import { and, eq, ne } from 'drizzle-orm';
import { cloudServices, deployments, vmRoles } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { maxDraws } from '#server/domain/topology-rules/names.ts';
import type { DeploymentSlot } from '#server/domain/topology-rules/words.ts';
import { callProvider, ProviderFailure } from './call-provider.ts';
import { discardRole } from './discard-role.ts';
import { tellFabric } from './endpoint-rows.ts';
import type { ModelRow } from './model-rows.ts';
import { type CloudProvider, NameTakenError } from './provider.ts';
import { removedMeanwhile } from './removed-meanwhile.ts';
import { type InstanceRequest, type Reservation, reserveInstance } from './reserve-instance.ts';
import { storeServiceAddress } from './service-rows.ts';

/** An instance that the provider created. */
export type CreatedInstance = Reservation & { assignedAddress: string };

/**
 * Creates an instance: stores it as being created, has the provider create it, and stores the outcome. If a step fails,
 * nothing of the instance remains, and the error names the step. Throws 409 `machine_removed` | `model_dying`, 503
 * `provider_failed` | `cloud_service_name_exhausted`.
 */
export async function createInstance(
  ctx: Context,
  provider: CloudProvider,
  model: ModelRow,
  request: InstanceRequest,
): Promise<CreatedInstance> {
  for (let draws = maxDraws; ; ) {
    const reserved = await reserveInstance(ctx, model.id, request, draws);
    try {
      return { ...reserved, assignedAddress: await build(ctx, provider, model, reserved) };
    } catch (thrown) {
      const error = await discard(ctx, provider, reserved, thrown);
      if (!(error instanceof ProviderFailure)) throw error;
      if (!(error.cause instanceof NameTakenError)) throw failedAt(error);
      if (reserved.drawsLeft === 0) throw new DomainError('unavailable', 'cloud_service_name_exhausted');
      draws = reserved.drawsLeft;
    }
  }
}

/**
 * Has the provider create an instance that was reserved. Returns null if another subscription has its cloud service’s
 * name. If a step fails, nothing of the instance remains. Throws 409 `machine_removed` | `model_dying`, 503
 * `provider_failed`.
 */
export async function completeInstance(
  ctx: Context,
  provider: CloudProvider,
  model: ModelRow,
  reserved: Reservation,
): Promise<CreatedInstance | null> {
  try {
    return { ...reserved, assignedAddress: await build(ctx, provider, model, reserved) };
  } catch (thrown) {
    const error = await discard(ctx, provider, reserved, thrown);
    if (!(error instanceof ProviderFailure)) throw error;
    if (error.cause instanceof NameTakenError) return null;
    throw failedAt(error);
  }
}

/** Deletes what remains of an instance. Returns why it was not created: a removal of it is also why the provider failed. */
async function discard(
  ctx: Context,
  provider: CloudProvider,
  reserved: Reservation,
  thrown: unknown,
): Promise<unknown> {
  const removed = thrown instanceof ProviderFailure ? await removedMeanwhile(ctx, reserved) : null;
  await discardRole(ctx, provider, reserved.role);
  return removed ?? thrown;
}

export const failedAt = ({ step, cause }: ProviderFailure): DomainError =>
  new DomainError('unavailable', 'provider_failed', { params: { step }, cause });

/** Has the provider create a reserved instance. Returns its internal address. */
async function build(
  ctx: Context,
  provider: CloudProvider,
  { affinityGroup }: ModelRow,
  { vm, role, instanceId, password, endpoints }: Reservation,
): Promise<string> {
  const { cloudService: service, deployment, name } = role;
  const [row] = await ctx.db.select().from(cloudServices).where(eq(cloudServices.name, service));
  if (row?.state === 'creating') {
    await storeServiceAddress(ctx, service, () =>
      callProvider('cloudService', () => provider.cloudService({ name: service, label: row.label, affinityGroup })),
    );
  }
  const description = {
    ...{ name, hostname: role.hostname, userName: role.userName, password, size: role.size, disks: role.disks },
    ...{ network: role.networkConfiguration.network, availabilitySet: role.availabilitySet },
    enrollment: vm.enrollmentToken === null ? null : { instanceId, token: vm.enrollmentToken },
  };
  const slot = await slotOfFirst(ctx, role);
  const { assignedAddress } =
    slot !== null
      ? await callProvider('deployment', () => provider.deployment(service, deployment, slot, description))
      : await callProvider('role', () => provider.role(service, deployment, description));
  await callProvider('endpoints', () => provider.endpoints(service, deployment, name, endpoints));
  await confirm(ctx, role, assignedAddress);
  return assignedAddress;
}

/** Returns the slot of a role's deployment; null if the provider has created another role of the deployment. */
async function slotOfFirst(
  { db }: Context,
  { cloudService, deployment, vmId }: Reservation['role'],
): Promise<DeploymentSlot | null> {
  const others = await db
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .where(
      and(
        ...[eq(vmRoles.cloudService, cloudService), eq(vmRoles.deployment, deployment)],
        ...[ne(vmRoles.vmId, vmId), eq(vmRoles.state, 'ready')],
      ),
    )
    .limit(1);
  if (others.length > 0) return null;
  const [placed] = await db
    .select({ slot: deployments.slot })
    .from(deployments)
    .where(and(eq(deployments.cloudService, cloudService), eq(deployments.name, deployment)));
  return placed?.slot ?? null;
}

/** Stores that an instance exists. Throws if it took longer than its lease, so that the repair has begun to delete it. */
async function confirm(
  ctx: Context,
  { vmId, cloudService }: Reservation['role'],
  assignedAddress: string,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const [confirmed] = await tx
      .update(vmRoles)
      .set({ state: 'ready', leaseUntil: null, assignedAddress })
      .where(and(eq(vmRoles.vmId, vmId), eq(vmRoles.state, 'creating')))
      .returning({ vmId: vmRoles.vmId });
    if (confirmed === undefined) throw new ProviderFailure('role', new Error('the request took longer than its lease'));
    await tx
      .update(cloudServices)
      .set({ state: 'ready', leaseUntil: null })
      .where(and(eq(cloudServices.name, cloudService), eq(cloudServices.state, 'creating')));
    await tellFabric(tx, cloudService);
    await recordChange(tx, 'vm', vmId);
  });
}
