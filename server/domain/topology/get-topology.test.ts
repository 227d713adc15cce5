import { eq, inArray } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, cloudServices, deployments } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import {
  addMachine,
  changeModel,
  createModel,
  destroyModel,
  getModel,
  getTopology,
  listModels,
  listStorageAccounts,
  mendTopology,
  removeMachine,
  setStorageAccount,
  topology,
} from './index.ts';
import { lab, newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});

describe('the topology of a model', () => {
  test('is empty without machines, and unknown without the model', async () => {
    const { model } = await stage.bootstrapped();
    expect(await getTopology(ctx, { model })).toEqual({ proxy: 'off', cloudServices: [] });
    await expect(getTopology(ctx, { model: 'absent' })).rejects.toMatchObject({ code: 'model_unknown' });
  });

  test('JU-17 without availability sets, SSH of each machine is a single endpoint, and no agreement covers it', async () => {
    const { model, provider } = await stage.bootstrapped();
    const machines = [await addMachine(ctx, { model }, provider), await addMachine(ctx, { model }, provider)];
    const { cloudServices: services } = topology.parse(await getTopology(ctx, { model }));
    const names = machines.map(({ cloudService }) => cloudService);
    expect(services.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    for (const { deployments: placed } of services) {
      expect(placed).toMatchObject([{ slot: 'production', covered: false }]);
      expect(placed[0]?.endpoints).toMatchObject([{ publicPort: 22, localPort: 22, name: 'ssh', set: null }]);
    }
  });

  test('JU-16 what is in Staging is not reachable at the public address', async () => {
    const { model, provider } = await stage.bootstrapped();
    const { cloudService } = await addMachine(ctx, { model }, provider);
    const reachable = async () =>
      (await getTopology(ctx, { model })).cloudServices[0]?.deployments[0]?.endpoints.map((one) => one.reachable);
    expect(await reachable()).toEqual([true]);
    await ctx.db.update(deployments).set({ slot: 'staging' }).where(eq(deployments.cloudService, cloudService));
    expect(await reachable()).toEqual([false]);
  });

  test('JU-30 models with similar names share no cloud service and no address', async () => {
    for (const name of ['prod', 'prod-1']) {
      const { provider } = await stage.bootstrapped({ name });
      await addMachine(ctx, { model: name }, provider);
    }
    const [one, other] = [await getTopology(ctx, { model: 'prod' }), await getTopology(ctx, { model: 'prod-1' })];
    const partsOf = ({ cloudServices: services }: typeof one) =>
      services.flatMap((service) => [service.name, service.dnsName, service.publicAddress]);
    expect(partsOf(one)).toHaveLength(3);
    expect(partsOf(one).filter((part) => partsOf(other).includes(part))).toEqual([]);
  });

  test('shows that a machine is being removed', async () => {
    const { model, provider } = await stage.bootstrapped();
    const { machine } = await addMachine(ctx, { model }, provider);
    await removeMachine(ctx, { model, machine });
    const { cloudServices: services } = await getTopology(ctx, { model });
    expect(services[0]?.deployments[0]?.roles).toMatchObject([{ machine, state: 'deleting' }]);
  });
});

test('the list of models is in the order of their names, with the counts of each', async () => {
  const { provider } = await stage.bootstrapped({ name: 'z-last' });
  await addMachine(ctx, { model: 'z-last' }, provider);
  await stage.bootstrapped({ name: 'a-first', availabilitySetsEnabled: true, controllers: 1 });
  const { items } = await listModels(ctx);
  const names = items.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(items.find(({ name }) => name === 'z-last')).toMatchObject({ machines: 1, controllers: 0, cloudServices: 1 });
  expect(items.find(({ name }) => name === 'a-first')).toMatchObject({ machines: 1, controllers: 1, cloudServices: 1 });
});

test('storage accounts are listed by name', async () => {
  const admin = await testContext({ services: ctx });
  for (const name of ['store2', 'store1']) await setStorageAccount(admin, { name, location: 'East Lab' });
  const names = (await listStorageAccounts(ctx)).items.map(({ name }) => name);
  expect(names).toEqual(['labstore', 'store1', 'store2']);
});

describe('the activity log', () => {
  test('has an entry for each action, with before and after, and the portal as actor of the last one', async () => {
    const model = 'recorded';
    await createModel(ctx, { ...lab, name: model });
    await changeModel(ctx, { model, availabilitySetsEnabled: false });
    await changeModel(ctx, { model, availabilitySetsEnabled: false });
    await destroyModel(ctx, { model, confirm: model, force: true });
    await destroyModel(ctx, { model, confirm: model, force: true });
    await stage.mend(stage.nothing());
    const acts = await readActs(ctx.db, eq(auditEntries.targetId, model));
    expect(acts.map(({ action, actorKind }) => [action, actorKind])).toEqual([
      ['model.create', 'user'],
      ['model.change', 'user'],
      ['model.destroy', 'user'],
      ['model.remove', 'system'],
    ]);
    expect(acts[1]).toMatchObject({
      before: { availabilitySetsEnabled: true },
      after: { availabilitySetsEnabled: false },
    });
    expect(acts[2]).toMatchObject({ details: { machines: 0, force: true } });
  });

  test('has an entry with the VM for each machine that is added or removed', async () => {
    const { model, provider } = await stage.bootstrapped();
    const { vmId, machine, vm } = await addMachine(ctx, { model }, provider);
    await removeMachine(ctx, { model, machine });
    await removeMachine(ctx, { model, machine });
    const acts = await readActs(ctx.db, inArray(auditEntries.action, ['machine.add', 'machine.remove']));
    expect(acts.filter((act) => act.vmId === vmId)).toMatchObject([
      { action: 'machine.add', targetId: model, details: { machine: vm } },
      { action: 'machine.remove', targetId: model, details: { machine: vm, force: false } },
    ]);
  });
});

test('open pages are updated with each change of a model', async () => {
  const { model, provider } = await stage.bootstrapped();
  const count = () => ctx.db.$count(changes, eq(changes.key, model));
  const { machine } = await addMachine(ctx, { model }, provider);
  const before = await count();
  await removeMachine(ctx, { model, machine });
  await stage.mend(provider);
  expect(await count()).toBeGreaterThanOrEqual(before + 2);
});

test('the repair is for operators, and changes nothing that is complete', async () => {
  const viewer = await testContext({ services: ctx, role: 'viewer' });
  await expect(mendTopology(viewer)).rejects.toMatchObject({ code: 'forbidden' });
  const { model, provider } = await stage.bootstrapped();
  await addMachine(ctx, { model }, provider);
  await stage.mend(provider, 1_000);
  const [before, calls] = [await getModel(ctx, { model }), provider.calls.length];
  expect(await stage.mend(provider, 2_000)).toBe(0);
  expect([await getModel(ctx, { model }), provider.calls.length]).toEqual([before, calls]);
  const gone = await ctx.db.select().from(cloudServices).where(eq(cloudServices.state, 'creating'));
  expect(gone).toEqual([]);
});
