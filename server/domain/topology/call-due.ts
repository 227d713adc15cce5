import { and, eq, isNotNull, isNull, lte } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { cloudServices, deployments, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { callProvider } from './call-provider.ts';
import { readEndpoints } from './endpoint-rows.ts';
import { leaseOf } from './lease.ts';
import type { CloudProvider } from './provider.ts';

/** Notes in the caller’s transaction that the provider has to learn the slots and endpoints of a cloud service. */
export async function noteProviderDue(tx: Transaction, { now }: Pick<Context, 'now'>, service: string): Promise<void> {
  await tx
    .update(cloudServices)
    .set({ providerDueAt: leaseOf(now) })
    .where(eq(cloudServices.name, service));
}

/**
 * Calls the provider about the slots and endpoints of a cloud service, as the inventory has them now. The inventory
 * decides, so a failure does not undo the change: the repair repeats the calls until they succeed.
 */
export async function callDue(ctx: Context, provider: CloudProvider, service: string): Promise<void> {
  const [row] = await ctx.db
    .select({ dueAt: cloudServices.providerDueAt })
    .from(cloudServices)
    .where(and(eq(cloudServices.name, service), isNull(cloudServices.goneAt)));
  if (!row?.dueAt) return;
  const placed = await ctx.db.select().from(deployments).where(eq(deployments.cloudService, service));
  const inSlot = (slot: 'production' | 'staging') => placed.find((one) => one.slot === slot)?.name ?? null;
  const slots = { production: inSlot('production'), staging: inSlot('staging') };
  await callProvider('swap', () => provider.swap(service, slots));
  for (const { deployment, name } of await readyRoles(ctx, service)) {
    const all = await readEndpoints(ctx.db, service, deployment);
    const own = all.filter(({ role }) => role === name);
    await callProvider('endpoints', () => provider.endpoints(service, deployment, name, own));
  }
  // If another request changed the cloud service meanwhile, the note is a new one, and that request calls the provider.
  await ctx.db
    .update(cloudServices)
    .set({ providerDueAt: null })
    .where(and(eq(cloudServices.name, service), eq(cloudServices.providerDueAt, row.dueAt)));
}

const readyRoles = ({ db }: Context, service: string) =>
  db
    .select({ deployment: vmRoles.deployment, name: vmRoles.name })
    .from(vmRoles)
    .where(and(eq(vmRoles.cloudService, service), eq(vmRoles.state, 'ready')))
    .orderBy(vmRoles.name);

/** Calls the provider after a change. If a call fails, the repair repeats it. */
export async function callAfterChange(ctx: Context, provider: CloudProvider, service: string): Promise<void> {
  try {
    await callDue(ctx, provider, service);
  } catch (error) {
    ctx.log.warn({ err: error, service }, 'the provider does not have the change yet; the repair tries again');
  }
}

/** Returns the cloud services whose changes the provider does not have, although a request should have called it. */
export const dueServices = ({ db, now }: Context) =>
  db
    .select({ name: cloudServices.name })
    .from(cloudServices)
    .where(
      and(isNotNull(cloudServices.providerDueAt), lte(cloudServices.providerDueAt, now), isNull(cloudServices.goneAt)),
    );
