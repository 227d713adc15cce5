import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { affinityGroups, models, networks, storageAccounts, storageObjects } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type BootstrapPlan, planBootstrap } from '#server/domain/topology-rules/models.ts';
import { storageContainerName } from '#server/domain/topology-rules/names.ts';
import { callProvider, ProviderFailure } from './call-provider.ts';
import { createInstance, failedAt } from './create-instance.ts';
import { type BootstrapModelInput, bootstrapModelInput } from './input.ts';
import { leaseOf } from './lease.ts';
import { localFabric } from './local-fabric.ts';
import { type NewMachine, showNewMachine } from './machine-view.ts';
import { lockModel, lockModelById, type ModelRow, requireAlive, updateModel } from './model-rows.ts';
import { type Model, showModel } from './model-view.ts';
import type { CloudProvider } from './provider.ts';
import { undoBootstrap } from './tear-down.ts';

/** The object in a model’s storage that lists its controllers. */
const stateObject = 'provider-state';

/**
 * Bootstraps a model: creates its affinity group, its network and the requested controllers, unless they exist. After a
 * failure, nothing that the bootstrap created remains. Throws 404 `model_unknown`, 409 `model_dying` |
 * `model_bootstrapped` | `model_bootstrapping` | `machine_removed`, 422 `storage_account_unknown` | `affinity_group_elsewhere`, 503 `provider_failed`.
 */
export async function bootstrapModel(
  ctx: Context,
  input: BootstrapModelInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<Model & { newMachines: NewMachine[] }> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch, controllers } = parse(bootstrapModelInput, input);
  const model = await ctx.db.transaction(async (tx) =>
    beginBootstrap(tx, ctx, await lockModel(tx, name, ifMatch), controllers),
  );
  try {
    await createPlace(ctx, provider, model);
    const newMachines: NewMachine[] = [];
    const request = { kind: 'controller' as const, leases: controllers + 1 };
    for (let number = 0; number < controllers; number += 1) {
      newMachines.push(showNewMachine(ctx, await createInstance(ctx, provider, model, request)));
    }
    const instances = newMachines.map(({ instanceId }) => instanceId);
    const done = await ctx.db.transaction((tx) => endBootstrap(tx, ctx, model, instances));
    return { ...(await showModel(ctx, done)), newMachines };
  } catch (error) {
    await undoBootstrap(ctx, provider, model.id);
    if (await isDestroyed(ctx, model.id)) throw new DomainError('conflict', 'model_dying');
    throw error instanceof ProviderFailure ? failedAt(error) : error;
  }
}

async function isDestroyed({ db }: Context, id: string): Promise<boolean> {
  return (await db.$count(models, and(eq(models.id, id), eq(models.life, 'alive')))) === 0;
}

/** Stores what the bootstrap creates, so that the repair can delete it. */
async function beginBootstrap(tx: Transaction, ctx: Context, model: ModelRow, controllers: number): Promise<ModelRow> {
  requireAlive(model);
  if (model.bootstrappedAt !== null) throw new DomainError('conflict', 'model_bootstrapped');
  if (model.leaseUntil !== null) throw new DomainError('conflict', 'model_bootstrapping');
  const { id: madeFor, affinityGroup, network, location, storageAccount } = model;
  const [account] = await tx
    .select()
    .from(storageAccounts)
    .where(eq(storageAccounts.name, storageAccount))
    .for('key share');
  const [group] = await tx.select().from(affinityGroups).where(eq(affinityGroups.name, affinityGroup));
  const [existing] = await tx.select().from(networks).where(eq(networks.name, network));
  const facts = { hasStorageAccount: account !== undefined, location, affinityGroup: group ?? null };
  const { creates } = requirePlan(planBootstrap({ ...facts, hasNetwork: existing !== undefined }, controllers), model);
  const created = { madeFor, createdAt: ctx.now, createdBy: ctx.actor.name };
  if (creates.includes('affinityGroup'))
    await tx.insert(affinityGroups).values({ name: affinityGroup, location, ...created });
  if (creates.includes('network')) {
    await tx.insert(networks).values({ name: network, cidr: ctx.config.fabric.network, ...created });
  }
  return updateModel(tx, model, { leaseUntil: leaseOf(ctx.now, controllers + 1) });
}

function requirePlan(plan: BootstrapPlan, { storageAccount }: ModelRow): Extract<BootstrapPlan, { creates: unknown }> {
  if ('creates' in plan) return plan;
  const params = { account: storageAccount, ...('params' in plan && plan.params) };
  throw new DomainError('unprocessable', plan.refusal, { params });
}

/** Has the provider create affinity group and network. What it already had was not made for the model, and is kept. */
async function createPlace({ db, config }: Context, provider: CloudProvider, model: ModelRow): Promise<void> {
  const { id, affinityGroup, network, location } = model;
  const group = await callProvider('affinityGroup', () => provider.affinityGroup(affinityGroup, location));
  if (group === 'existed') {
    await db
      .update(affinityGroups)
      .set({ madeFor: null })
      .where(and(eq(affinityGroups.name, affinityGroup), eq(affinityGroups.madeFor, id)));
  }
  const made = await callProvider('network', () => provider.network(network, config.fabric.network));
  if (made === 'existed') {
    await db
      .update(networks)
      .set({ madeFor: null })
      .where(and(eq(networks.name, network), eq(networks.madeFor, id)));
  }
}

async function endBootstrap(tx: Transaction, ctx: Context, { id }: ModelRow, instances: string[]): Promise<ModelRow> {
  const model = await lockModelById(tx, id);
  requireAlive(model);
  if (model.leaseUntil === null)
    throw new ProviderFailure('deployment', new Error('the bootstrap took longer than its lease'));
  const { storageAccount: account, name, affinityGroup, network, availabilitySetsEnabled } = model;
  await tx.insert(storageObjects).values({
    ...{ account, container: storageContainerName(name), name: stateObject },
    ...{ content: { instances }, writtenAt: ctx.now },
  });
  await recordAudit(tx, ctx, {
    action: 'model.bootstrap',
    target: { kind: 'model', id: name },
    after: { affinityGroup, network, availabilitySetsEnabled, controllers: instances },
    details: { controllers: instances.length },
  });
  return updateModel(tx, model, { bootstrappedAt: ctx.now, leaseUntil: null });
}
