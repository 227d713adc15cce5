import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { bootstrapModel, createModel, setStorageAccount } from '../index.ts';
import { mendTopology } from '../mend-topology.ts';
import { FakeProvider } from './fake-provider.ts';

/** A database with a storage account, for tests of several models. */
export interface Stage {
  ctx: Context;
  /** Creates and bootstraps a model with a new name. */
  bootstrapped(options?: { name?: string; availabilitySetsEnabled?: boolean; controllers?: number }): Promise<Staged>;
  /** Returns the context at a later time. */
  after(seconds: number): Context;
  /** Returns a provider that has nothing, for repairs that concern the inventory only. */
  nothing(): FakeProvider;
  /** Runs the repair at a later time. */
  mend(provider: FakeProvider, seconds?: number): Promise<number>;
}

/** A bootstrapped model and its provider. */
export interface Staged {
  model: string;
  provider: FakeProvider;
  newMachines: Awaited<ReturnType<typeof bootstrapModel>>['newMachines'];
}

/** Creates a stage, by default with a separate database. */
export async function newStage(given?: Services): Promise<Stage> {
  const services = given ?? (await testServices());
  const ctx = await testContext({ services, role: 'operator' });
  const admin = await testContext({ services });
  await setStorageAccount(admin, { name: 'labstore', location: 'West Lab' });
  let count = 0;
  const after = (seconds: number): Context => ({ ...ctx, now: new Date(ctx.now.getTime() + seconds * 1_000) });
  return {
    ctx,
    after,
    nothing: () => new FakeProvider(),
    mend: (provider, seconds = 0) =>
      mendTopology({ ...after(seconds), actor: systemActor, origin: systemOrigin }, provider),
    bootstrapped: async ({ name, availabilitySetsEnabled = false, controllers = 0 } = {}) => {
      count += 1;
      const model = name ?? `model-${count}`;
      const provider = new FakeProvider();
      await createModel(ctx, { ...lab, name: model, availabilitySetsEnabled });
      const { newMachines } = await bootstrapModel(ctx, { model, controllers }, provider);
      return { model, provider, newMachines };
    },
  };
}

/** Where the models of tests are. */
export const lab = { location: 'West Lab', storageAccount: 'labstore' };
