import { and, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import { cloudServices, models, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { callDue, dueServices } from './call-due.ts';
import { deleteRole, markRole } from './discard-role.ts';
import { localFabric } from './local-fabric.ts';
import { countWaitingRoles, findOpenRoles } from './open-roles.ts';
import type { CloudProvider } from './provider.ts';
import { dropService } from './service-rows.ts';
import { tearDown, undoBootstrap } from './tear-down.ts';

/** Maximum number of roles that one run deletes, so that a run stays short. */
const maxRoles = 100;

/**
 * Repairs the inventory: deletes what a request began to create and did not complete within its lease, continues
 * deletions, and repeats calls of the provider about endpoints and slots. A failure of the provider delays only what it
 * concerns. Returns how many objects are not settled yet.
 */
export async function mendTopology(ctx: Context, provider: CloudProvider = localFabric(ctx)): Promise<number> {
  allow(ctx.actor, 'operator');
  let open = 0;
  const attempt = async (what: string, id: string, run: () => Promise<boolean>) => {
    try {
      if (!(await run())) open += 1;
    } catch (error) {
      open += 1;
      ctx.log.warn({ err: error, what, id }, 'the topology could not be repaired; the next run tries again');
    }
  };
  for (const { id } of await expiredBootstraps(ctx)) {
    await attempt('bootstrap', id, async () => {
      await undoBootstrap(ctx, provider, id);
      return true;
    });
  }
  const roles = await findOpenRoles(ctx, { limit: maxRoles });
  for (const vmId of roles) {
    await attempt('role', vmId, async () => {
      await mendRole(ctx, provider, vmId);
      return true;
    });
  }
  for (const { name } of await endingServices(ctx)) {
    await attempt('cloud service', name, async () => {
      await dropService(ctx, provider, name);
      return true;
    });
  }
  for (const { name } of await dueServices(ctx)) {
    await attempt('endpoints', name, async () => {
      await callDue(ctx, provider, name);
      return true;
    });
  }
  for (const { id, isBusy } of await destroyedModels(ctx)) {
    await attempt('model', id, async () => !isBusy && (await tearDown(ctx, provider, id)));
  }
  // Roles whose agents uninstall extensions were left out, or have just begun to wait.
  return open + (await countWaitingRoles(ctx));
}

const expiredBootstraps = ({ db, now }: Context) =>
  db
    .select({ id: models.id })
    .from(models)
    .where(
      and(
        isNull(models.removedAt),
        isNull(models.bootstrappedAt),
        lte(models.leaseUntil, now),
        eq(models.life, 'alive'),
      ),
    );

/** Models to destroy. A model is busy while its bootstrap runs, which deletes what it created when it ends. */
const destroyedModels = ({ db, now }: Context) =>
  db
    .select({
      id: models.id,
      isBusy: sql<boolean>`${models.bootstrappedAt} is null and coalesce(${models.leaseUntil} > ${now}, false)`,
    })
    .from(models)
    .where(and(eq(models.life, 'destroying'), isNull(models.removedAt)));

const endingServices = ({ db }: Context) =>
  db
    .select({ name: cloudServices.name })
    .from(cloudServices)
    .where(and(eq(cloudServices.state, 'deleting'), isNull(cloudServices.goneAt)));

/** Deletes a role whose request did not complete, or whose deletion began. */
async function mendRole(ctx: Context, provider: CloudProvider, vmId: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const [role] = await tx
      .select({ state: vmRoles.state })
      .from(vmRoles)
      .where(and(eq(vmRoles.vmId, vmId), isNotNull(vmRoles.leaseUntil), lte(vmRoles.leaseUntil, ctx.now)))
      .for('no key update');
    if (role?.state === 'creating') await markRole(tx, ctx, vmId, true);
  });
  await deleteRole(ctx, provider, vmId);
}
