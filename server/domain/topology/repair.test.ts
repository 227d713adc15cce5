import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { models, vmRoles } from '#db/schema/index.ts';
import { type Random, randomOf } from '#server/domain/topology-rules/testing/random.ts';
import { addMachine, bootstrapModel, createModel, destroyModel, removeMachine } from './index.ts';
import type { ProviderStep } from './provider.ts';
import { FakeProvider, type Fate } from './testing/fake-provider.ts';
import { faultsOf, settle } from './testing/faults.ts';
import { lab, newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let ctx: Stage['ctx'];

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});

/** What a request came to: its result or error, or that the process was killed. */
type Outcome<T> = { result: T } | { error: unknown } | 'killed';

/** Runs a request until it ends or its process is killed at a call of the provider. */
async function run<T>(provider: FakeProvider, request: () => Promise<T>): Promise<Outcome<T>> {
  const killed = new Promise<'killed'>((resolve) => {
    provider.onDeath = () => resolve('killed');
  });
  const ended = request().then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  return Promise.race([killed, ended]);
}

const fates: readonly Fate[] = ['failBefore', 'failAfter', 'dieBefore', 'dieAfter'];

describe('JU-25 a request whose provider fails, or whose process is killed', () => {
  let shared: Staged;
  beforeAll(async () => {
    shared = await stage.bootstrapped();
  });
  const steps: readonly ProviderStep[] = ['cloudService', 'deployment', 'endpoints'];
  test.each(steps.flatMap((step) => fates.map((fate) => [step, fate] as const)))(
    'at %s (%s) leaves no part of the machine after the repair',
    async (failing, fate) => {
      const { model, provider } = shared;
      provider.fate = (step) => (step === failing ? fate : 'succeed');
      const outcome = await run(provider, () => addMachine(ctx, { model }, provider));
      expect('result' in Object(outcome)).toBe(false);
      if (outcome === 'killed') expect(await ctx.db.$count(vmRoles, eq(vmRoles.state, 'creating'))).toBe(1);
      expect(await settle(stage, provider, 61)).toBe(0);
      expect(await faultsOf(ctx, model, provider)).toEqual([]);
      expect(provider.services.size).toBe(0);
    },
  );

  test.each(['affinityGroup', 'network', 'deployment'] as const)(
    'at %s of a bootstrap leaves a model that can be bootstrapped again',
    async (failing) => {
      const model = `killed-${failing.toLowerCase()}`;
      const provider = new FakeProvider();
      await createModel(ctx, { ...lab, name: model });
      provider.fate = (step) => (step === failing ? 'dieAfter' : 'succeed');
      expect(await run(provider, () => bootstrapModel(ctx, { model, controllers: 1 }, provider))).toBe('killed');
      await expect(bootstrapModel(ctx, { model }, provider)).rejects.toMatchObject({ code: 'model_bootstrapping' });
      expect(await settle(stage, provider, 121)).toBe(0);
      expect([provider.groups.size, provider.networks.size, provider.services.size]).toEqual([0, 0, 0]);
      expect((await bootstrapModel(ctx, { model }, provider)).bootstrappedAt).not.toBeNull();
    },
  );

  test('JU-26 at the network of a bootstrap keeps a network that existed before', async () => {
    const model = 'existed';
    const provider = new FakeProvider();
    provider.networks.add(`juju-${model}-vnet`);
    await createModel(ctx, { ...lab, name: model });
    provider.fate = (step) => (step === 'network' ? 'dieAfter' : 'succeed');
    expect(await run(provider, () => bootstrapModel(ctx, { model }, provider))).toBe('killed');
    expect(await settle(stage, provider, 121)).toBe(0);
    expect([[...provider.groups], [...provider.networks]]).toEqual([[], [`juju-${model}-vnet`]]);
  });

  test('does not lose its machine to the repair while its lease lasts', async () => {
    const { model, provider } = await stage.bootstrapped();
    let repaired = -1;
    provider.endpoints = async () => {
      repaired = await stage.mend(provider, 59);
    };
    const added = await addMachine(ctx, { model }, provider);
    expect(repaired).toBe(0);
    expect(await faultsOf(ctx, model, provider)).toEqual([]);
    expect(added.machine).toBe(0);
  });

  test('that takes longer than its lease fails, and the repair deletes the machine', async () => {
    const { model, provider } = await stage.bootstrapped();
    provider.endpoints = async () => {
      await stage.mend(provider, 61);
    };
    await expect(addMachine(ctx, { model }, provider)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(await settle(stage, provider, 62)).toBe(0);
    expect(await faultsOf(ctx, model, provider)).toEqual([]);
  });
});

/** A random history of one model. */
class History {
  readonly model: string;
  readonly provider = new FakeProvider();
  /** Machines whose creation was answered with success and whose removal was not requested. */
  readonly kept = new Set<number>();
  private readonly random: Random;
  private seconds = 0;
  private isDestroyed = false;

  constructor(seed: number) {
    this.random = randomOf(seed);
    this.model = `random-${seed}`;
    this.provider.fate = () => (this.random.chance(0.85) ? 'succeed' : this.random.pick(fates));
  }

  async act(): Promise<void> {
    const { model, provider, random } = this;
    this.seconds += random.below(40);
    const later = stage.after(this.seconds);
    const kind = random.below(10);
    if (kind < 3) await run(provider, () => stage.mend(provider, this.seconds));
    else if (kind < 5)
      await run(provider, () => bootstrapModel(later, { model, controllers: random.below(2) }, provider));
    else if (kind < 8) {
      const added = await run(provider, () => addMachine(later, { model }, provider));
      if (added !== 'killed' && 'result' in added) this.kept.add(added.result.machine);
    } else if (kind === 8 && this.kept.size > 0) {
      const machine = random.pick([...this.kept]);
      this.kept.delete(machine);
      await removeMachine(later, { model, machine }).catch(() => {});
    } else if (kind === 9 && random.chance(0.3) && !this.isDestroyed) {
      this.isDestroyed = true;
      this.kept.clear();
      await destroyModel(later, { model, confirm: model });
    }
  }

  /** Repairs until nothing is open. Returns what does not belong together then. */
  async settle(): Promise<string[]> {
    const open = await settle(stage, this.provider, this.seconds + 1_000);
    const machines = await ctx.db
      .select({ machine: vmRoles.machine })
      .from(vmRoles)
      .innerJoin(models, eq(models.id, vmRoles.modelId))
      .where(eq(models.name, this.model));
    const lost = [...this.kept].filter((machine) => !machines.some((one) => one.machine === machine));
    return [
      ...(open === 0 ? [] : [`${open} are open`]),
      ...lost.map((machine) => `machine ${machine} was lost`),
      ...(await faultsOf(ctx, this.model, this.provider)),
    ];
  }
}

test('JU-25 over random histories with failures and kills, nothing is left without its counterpart', async () => {
  const faults: { seed: number; faults: string[] }[] = [];
  let machines = 0;
  for (let seed = 0; seed < 6; seed += 1) {
    const history = new History(seed);
    await createModel(ctx, { ...lab, name: history.model, availabilitySetsEnabled: false });
    for (let count = 0; count < 12; count += 1) await history.act();
    const found = await history.settle();
    machines += history.kept.size;
    if (found.length > 0) faults.push({ seed, faults: found });
  }
  expect(faults).toEqual([]);
  expect(machines).toBeGreaterThan(3);
}, 60_000);
