import { and, eq, isNull } from 'drizzle-orm';
import { affinityGroups, cloudServices, models, networks, storageObjects, vmRoles } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type DestructionWarning, destructionStep, giveUpSeconds } from '#server/domain/topology-rules/models.ts';
import { storageContainerName } from '#server/domain/topology-rules/names.ts';
import { callProvider } from './call-provider.ts';
import { deleteRole } from './discard-role.ts';
import { lockModelById, type ModelRow, updateModel } from './model-rows.ts';
import { findOpenRoles, markRolesOf } from './open-roles.ts';
import type { CloudProvider } from './provider.ts';
import { dropService } from './service-rows.ts';

/** Maximum number of roles of a model that one run deletes, so that other repairs do not wait for long. */
const maxRoles = 200;

/** Deletes what a failed or interrupted bootstrap created. If the provider fails again, the repair completes it. */
export async function undoBootstrap(ctx: Context, provider: CloudProvider, modelId: string): Promise<void> {
  const isMine = await ctx.db.transaction(async (tx) => {
    const model = await lockModelById(tx, modelId);
    if (model.leaseUntil === null || model.bootstrappedAt !== null) return false;
    if (model.leaseUntil > ctx.now) await tx.update(models).set({ leaseUntil: ctx.now }).where(eq(models.id, modelId));
    await markRolesOf(tx, ctx, modelId, { forced: true });
    return true;
  });
  if (!isMine) return;
  try {
    await tearDown(ctx, provider, modelId);
  } catch (error) {
    ctx.log.warn({ err: error, modelId }, 'a bootstrap could not be undone; the repair tries again');
  }
}

/**
 * Continues to delete what belongs to a model, in the order of `destructionStep`: the storage last. Each step can be
 * repeated. Returns whether everything is deleted.
 */
export async function tearDown(ctx: Context, provider: CloudProvider, modelId: string): Promise<boolean> {
  for (let last = ''; ; ) {
    const [model] = await ctx.db.select().from(models).where(eq(models.id, modelId));
    if (model === undefined || model.removedAt !== null) return true;
    const step = await nextStep(ctx, model);
    if (step === last) return false;
    last = step;
    if (step === 'machines') await deleteRoles(ctx, provider, modelId);
    else if (step === 'cloudServices') await dropServices(ctx, provider, modelId);
    else if (step === 'network' || step === 'affinityGroup') await dropPlace(ctx, provider, model, step);
    else if (step === 'storage') await deleteObjects(ctx, model);
    else return finish(ctx, modelId);
  }
}

async function nextStep({ db }: Context, model: ModelRow) {
  const { id, network, affinityGroup, storageAccount, name, warnings } = model;
  const roles = await db.select({ vmId: vmRoles.vmId }).from(vmRoles).where(eq(vmRoles.modelId, id));
  const services = await db
    .select({ name: cloudServices.name })
    .from(cloudServices)
    .where(and(eq(cloudServices.modelId, id), isNull(cloudServices.goneAt)));
  const [net] = await db.select().from(networks).where(eq(networks.name, network));
  const [group] = await db.select().from(affinityGroups).where(eq(affinityGroups.name, affinityGroup));
  const objects = await db
    .select({ name: storageObjects.name })
    .from(storageObjects)
    .where(and(eq(storageObjects.account, storageAccount), eq(storageObjects.container, storageContainerName(name))));
  const place = (row: { madeFor: string | null } | undefined, code: DestructionWarning['code']) =>
    row ? { isForeign: row.madeFor !== id, hasGivenUp: warnings.some((warning) => warning.code === code) } : null;
  return destructionStep({
    ...{ services: 0, machines: roles.length, cloudServices: services.length, storageObjects: objects.length },
    network: place(net, 'network_left'),
    affinityGroup: place(group, 'affinity_group_left'),
  });
}

async function deleteRoles(ctx: Context, provider: CloudProvider, modelId: string): Promise<void> {
  const open = await findOpenRoles(ctx, { modelId, limit: maxRoles });
  for (const vmId of open) await deleteRole(ctx, provider, vmId);
}

async function dropServices(ctx: Context, provider: CloudProvider, modelId: string): Promise<void> {
  const services = await ctx.db
    .select({ name: cloudServices.name })
    .from(cloudServices)
    .where(and(eq(cloudServices.modelId, modelId), isNull(cloudServices.goneAt)));
  for (const { name } of services) await dropService(ctx, provider, name);
}

/** Deletes the network or affinity group. After half a minute without success, it is left behind, with a warning. */
async function dropPlace(ctx: Context, provider: CloudProvider, model: ModelRow, step: 'network' | 'affinityGroup') {
  const { db, now } = ctx;
  try {
    if (step === 'network') {
      await callProvider('dropNetwork', () => provider.dropNetwork(model.network));
      await db.delete(networks).where(eq(networks.name, model.network));
    } else {
      await callProvider('dropAffinityGroup', () => provider.dropAffinityGroup(model.affinityGroup));
      await db.delete(affinityGroups).where(eq(affinityGroups.name, model.affinityGroup));
    }
  } catch (error) {
    const since = model.destroyingAt ?? model.leaseUntil ?? now;
    if (now.getTime() - since.getTime() < giveUpSeconds * 1_000) throw error;
    const warning: DestructionWarning =
      step === 'network'
        ? { code: 'network_left', name: model.network }
        : { code: 'affinity_group_left', name: model.affinityGroup };
    await db.transaction((tx) => updateModel(tx, model, { warnings: [...model.warnings, warning] }));
  }
}

async function deleteObjects({ db }: Context, { storageAccount, name }: ModelRow): Promise<void> {
  await db
    .delete(storageObjects)
    .where(and(eq(storageObjects.account, storageAccount), eq(storageObjects.container, storageContainerName(name))));
}

/** Removes a destroyed model. A model whose bootstrap was undone stays, and can be bootstrapped again. */
async function finish(ctx: Context, modelId: string): Promise<boolean> {
  await ctx.db.transaction(async (tx) => {
    const model = await lockModelById(tx, modelId);
    const { name, life, warnings } = model;
    if (life === 'destroying') {
      await updateModel(tx, model, { removedAt: ctx.now });
      await recordAudit(tx, ctx, {
        action: 'model.remove',
        target: { kind: 'model', id: name },
        details: { warnings },
      });
    } else {
      await updateModel(tx, model, { leaseUntil: null, warnings: [] });
    }
  });
  return true;
}
