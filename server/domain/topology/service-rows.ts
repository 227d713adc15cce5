import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { availabilitySets, cloudServices, deployments, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { callProvider } from './call-provider.ts';
import { lockModelById } from './model-rows.ts';
import type { CloudProvider, ServiceAddress } from './provider.ts';

/** Number of public addresses that are tried if concurrent requests take them first. */
const maxAddresses = 10;

/** Stores the address that the provider assigned to a cloud service. */
export async function storeServiceAddress(
  { db }: Context,
  service: string,
  assign: () => Promise<ServiceAddress>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const address = await assign();
    try {
      await db
        .update(cloudServices)
        .set(address)
        .where(and(eq(cloudServices.name, service), isNull(cloudServices.publicAddress)));
      return;
    } catch (error) {
      if (!isTaken(error) || tries === maxAddresses) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  const { code, constraint } = ((error as { cause?: unknown }).cause ?? error) as {
    code?: string;
    constraint?: string;
  };
  return code === '23505' && (constraint === 'cloud_services_address' || constraint === 'cloud_services_dns');
}

/**
 * Deletes a deployment without a role, as the provider does, if the cloud service has roles in its other deployment. The
 * last deployment is deleted with the cloud service. The caller has locked the model.
 */
export async function endEmptyDeployment(tx: Transaction, service: string, deployment: string): Promise<void> {
  const roles = await tx
    .selectDistinct({ deployment: vmRoles.deployment })
    .from(vmRoles)
    .where(eq(vmRoles.cloudService, service));
  if (roles.length === 0 || roles.some((role) => role.deployment === deployment)) return;
  await tx.delete(deployments).where(and(eq(deployments.cloudService, service), eq(deployments.name, deployment)));
}

/** Marks a cloud service for deletion if it has no role. The caller has locked the model. */
export async function endEmptyService(tx: Transaction, service: string): Promise<void> {
  const [role] = await tx
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .where(eq(vmRoles.cloudService, service))
    .limit(1);
  if (role !== undefined) return;
  await tx
    .update(cloudServices)
    .set({ state: 'deleting', leaseUntil: null })
    .where(and(eq(cloudServices.name, service), isNull(cloudServices.goneAt)));
}

/** Deletes a cloud service that is marked for deletion. Its row is kept, so that its name is never used again. */
export async function dropService(ctx: Context, provider: CloudProvider, service: string): Promise<void> {
  const [row] = await ctx.db
    .select({ state: cloudServices.state, goneAt: cloudServices.goneAt, modelId: cloudServices.modelId })
    .from(cloudServices)
    .where(eq(cloudServices.name, service));
  if (row?.state !== 'deleting' || row.goneAt !== null) return;
  await callProvider('dropCloudService', () => provider.dropCloudService(service));
  await ctx.db.transaction(async (tx) => {
    await lockModelById(tx, row.modelId);
    await tx.delete(deployments).where(eq(deployments.cloudService, service));
    await tx.delete(availabilitySets).where(eq(availabilitySets.cloudService, service));
    await tx.update(cloudServices).set({ goneAt: ctx.now }).where(eq(cloudServices.name, service));
  });
}
