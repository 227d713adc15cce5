import { and, eq, isNull, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  affinityGroups,
  auditEntries,
  cloudServices,
  networks,
  storageObjects,
  vmRoles,
  vms,
} from '#db/schema/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import {
  addMachine,
  bootstrapModel,
  changeModel,
  createModel,
  deleteStorageAccount,
  destroyModel,
  getModel,
  getTopology,
  listModels,
  listStorageAccounts,
  setStorageAccount,
} from './index.ts';
import type { ProviderStep } from './provider.ts';
import { FakeProvider, type Fate } from './testing/fake-provider.ts';
import { lab, newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Stage['ctx'];
let count = 0;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});

const newModel = async (given: Partial<Parameters<typeof createModel>[1]> = {}) => {
  count += 1;
  return (await createModel(ctx, { ...lab, name: `new-${count}`, ...given })).name;
};
const bootstrap = (model: string, provider = new FakeProvider(), controllers = 0) =>
  bootstrapModel(ctx, { model, controllers }, provider);
const remains = async (model: string) => ({
  groups: await ctx.db.$count(affinityGroups, eq(affinityGroups.name, `juju-${model}-ag`)),
  networks: await ctx.db.$count(networks, eq(networks.name, `juju-${model}-vnet`)),
  services: await ctx.db.$count(
    cloudServices,
    and(sql`starts_with(${cloudServices.name}, ${`juju-${model}-`})`, isNull(cloudServices.goneAt)),
  ),
  vms: await ctx.db.$count(vms, and(sql`starts_with(${vms.name}, ${`${model}-`})`, isNull(vms.deletedAt))),
  objects: await ctx.db.$count(storageObjects, eq(storageObjects.container, `juju-${model}-private`)),
});
const nothing = { groups: 0, networks: 0, services: 0, vms: 0, objects: 0 };

test('a storage account is created once, and its location is fixed', async () => {
  const admin = await testContext({ services: ctx });
  const created = await setStorageAccount(admin, { name: 'acme1', location: 'East Lab' });
  expect(created).toMatchObject({ isNew: true, account: { name: 'acme1', location: 'East Lab' } });
  expect(await setStorageAccount(admin, { name: 'acme1', location: 'East Lab' })).toEqual({ ...created, isNew: false });
  await expect(setStorageAccount(admin, { name: 'acme1', location: 'West Lab' })).rejects.toMatchObject({
    ...{ kind: 'conflict', code: 'storage_account_elsewhere' },
    params: { location: 'East Lab' },
  });
  await expect(setStorageAccount(ctx, { name: 'acme2', location: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
});

describe('deleting a storage account', () => {
  const given = async (name: string) => {
    const admin = await testContext({ services: ctx });
    await setStorageAccount(admin, { name, location: 'East Lab' });
    return admin;
  };
  const names = async () => (await listStorageAccounts(ctx)).items.map(({ name }) => name);

  test('is recorded, and the name can be used again in another location', async () => {
    const admin = await given('unused1');
    await deleteStorageAccount(admin, { name: 'unused1' });
    expect(await names()).not.toContain('unused1');
    const [entry] = await readActs(ctx.db, eq(auditEntries.action, 'storage-account.delete'));
    expect(entry).toMatchObject({ targetId: 'unused1', before: { location: 'East Lab' } });
    await expect(deleteStorageAccount(admin, { name: 'unused1' })).rejects.toMatchObject({
      ...{ kind: 'not_found', code: 'storage_account_gone' },
    });
    await setStorageAccount(admin, { name: 'unused1', location: 'West Lab' });
  });

  test('is rejected from the creation of a model until it is destroyed', async () => {
    const admin = await given('used1');
    const model = await newModel({ storageAccount: 'used1' });
    const provider = new FakeProvider();
    const rejected = async () => {
      await expect(deleteStorageAccount(admin, { name: 'used1' })).rejects.toMatchObject({
        ...{ kind: 'conflict', code: 'storage_account_in_use', params: { model } },
      });
    };
    await rejected();
    await bootstrap(model, provider);
    await rejected();
    await destroyModel(ctx, { model, confirm: model });
    await rejected();
    expect(await names()).toContain('used1');
    await stage.mend(provider);
    await deleteStorageAccount(admin, { name: 'used1' });
  });

  test('during the creation and bootstrap of a model leaves the model with its account or without a bootstrap', async () => {
    for (let round = 0; round < 8; round += 1) {
      const name = `raced${round}`;
      const admin = await given(name);
      const started = async () => {
        const model = await newModel({ storageAccount: name });
        return bootstrapModel(ctx, { model }, new FakeProvider());
      };
      const [deleted, bootstrapped] = await Promise.allSettled([deleteStorageAccount(admin, { name }), started()]);
      const [refused] = [deleted, bootstrapped].filter(({ status }) => status === 'rejected');
      const code = deleted.status === 'fulfilled' ? 'storage_account_unknown' : 'storage_account_in_use';
      expect(refused).toMatchObject({ reason: { code } });
      expect((await names()).includes(name)).toBe(bootstrapped.status === 'fulfilled');
    }
  });

  test('needs an admin', async () => {
    await expect(deleteStorageAccount(ctx, { name: 'labstore' })).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a new model', () => {
  test('JU-7 has availability sets, and nothing else exists until the bootstrap', async () => {
    const name = await newModel();
    expect(await getModel(ctx, { model: name })).toMatchObject({
      ...{ name, life: 'alive', availabilitySetsEnabled: true, bootstrappedAt: null, ...lab },
      ...{ affinityGroup: `juju-${name}-ag`, network: `juju-${name}-vnet`, machines: 0, cloudServices: 0 },
    });
    expect(await remains(name)).toEqual(nothing);
    expect((await listModels(ctx)).items.map((one) => one.name)).toContain(name);
  });

  test('JU-30 needs a free name of at most 47 characters', async () => {
    const name = await newModel();
    await expect(createModel(ctx, { ...lab, name })).rejects.toMatchObject({ code: 'model_name_taken' });
    await expect(createModel(ctx, { ...lab, name: 'a--b' })).rejects.toMatchObject({
      faults: [{ path: '/name', code: 'model_name_form' }],
    });
    await expect(createModel(ctx, { ...lab, name: 'x'.repeat(48) })).rejects.toMatchObject({
      faults: [{ path: '/name', code: 'field_too_long' }],
    });
  });

  test('a viewer sees models and changes none', async () => {
    const model = await newModel();
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    expect((await getModel(viewer, { model })).name).toBe(model);
    const forbidden = { code: 'forbidden' };
    await expect(createModel(viewer, { ...lab, name: 'x' })).rejects.toMatchObject(forbidden);
    await expect(bootstrapModel(viewer, { model })).rejects.toMatchObject(forbidden);
    await expect(destroyModel(viewer, { model, confirm: model })).rejects.toMatchObject(forbidden);
    await expect(addMachine(viewer, { model })).rejects.toMatchObject(forbidden);
  });
});

test('JU-7 availability-sets-enabled is frozen after the bootstrap, and the same value is accepted', async () => {
  const model = await newModel();
  expect((await changeModel(ctx, { model, availabilitySetsEnabled: false })).availabilitySetsEnabled).toBe(false);
  expect((await changeModel(ctx, { model, availabilitySetsEnabled: true })).availabilitySetsEnabled).toBe(true);
  await bootstrap(model);
  const { revision } = await getModel(ctx, { model });
  expect((await changeModel(ctx, { model, availabilitySetsEnabled: true })).revision).toBe(revision);
  await expect(changeModel(ctx, { model, availabilitySetsEnabled: false })).rejects.toMatchObject({
    ...{ kind: 'conflict', code: 'availability_sets_frozen' },
  });
});

test('a change for another revision is rejected', async () => {
  const model = await newModel();
  const { revision } = await getModel(ctx, { model });
  await changeModel(ctx, { model, availabilitySetsEnabled: false, ifMatch: revision });
  const stale = changeModel(ctx, { model, availabilitySetsEnabled: true, ifMatch: revision });
  await expect(stale).rejects.toMatchObject({ kind: 'precondition_failed', code: 'model_changed' });
});

describe('JU-2 the bootstrap', () => {
  test('without the storage account is rejected, and nothing is created', async () => {
    const model = await newModel({ storageAccount: 'absent' });
    const provider = new FakeProvider();
    await expect(bootstrap(model, provider, 1)).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'storage_account_unknown', params: { account: 'absent' } },
    });
    expect(provider.calls).toEqual([]);
    expect(await remains(model)).toEqual(nothing);
  });

  test('JU-1 creates one affinity group and one network, and is recorded', async () => {
    const model = await newModel();
    const provider = new FakeProvider();
    await bootstrap(model, provider);
    expect(provider.calls).toEqual([`affinityGroup juju-${model}-ag`, `network juju-${model}-vnet`]);
    expect(await remains(model)).toEqual({ ...nothing, groups: 1, networks: 1, objects: 1 });
    const acts = await readActs(ctx.db, eq(auditEntries.targetId, model));
    expect(acts.map(({ action }) => action)).toEqual(['model.create', 'model.bootstrap']);
    await expect(bootstrap(model, provider)).rejects.toMatchObject({ code: 'model_bootstrapped' });
  });

  test('is rejected if the affinity group is in another location', async () => {
    const model = await newModel();
    const created = { createdAt: ctx.now, createdBy: 'Test' };
    await ctx.db.insert(affinityGroups).values({ name: `juju-${model}-ag`, location: 'East Lab', ...created });
    await expect(bootstrap(model)).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'affinity_group_elsewhere', params: { location: 'East Lab' } },
    });
  });

  test.each(['affinityGroup', 'network', 'cloudService', 'deployment', 'endpoints'])(
    'JU-25 that fails at %s names the step, and leaves nothing behind',
    async (failing) => {
      const model = await newModel();
      const provider = new FakeProvider();
      provider.fate = (step) => (step === failing ? 'failAfter' : 'succeed');
      await expect(bootstrap(model, provider, 2)).rejects.toMatchObject({
        ...{ kind: 'unavailable', code: 'provider_failed', params: { step: failing } },
      });
      expect(await remains(model)).toEqual(nothing);
      expect([provider.groups.size, provider.networks.size, provider.services.size]).toEqual([0, 0, 0]);
      provider.fate = () => 'succeed';
      expect((await bootstrap(model, provider)).bootstrappedAt).not.toBeNull();
    },
  );

  test.each<[ProviderStep, Fate]>([
    ['network', 'succeed'],
    ['network', 'failAfter'],
    ['deployment', 'succeed'],
    ['deployment', 'failBefore'],
  ])('whose model is destroyed during %s (%s) says so, and leaves nothing behind', async (during, fate) => {
    const model = await newModel();
    const provider = new FakeProvider();
    provider.fate = async (step): Promise<Fate> => {
      if (step !== during) return 'succeed';
      provider.fate = () => 'succeed';
      await destroyModel(ctx, { model, confirm: model });
      await stage.mend(provider);
      return fate;
    };
    await expect(bootstrap(model, provider, 1)).rejects.toMatchObject({ kind: 'conflict', code: 'model_dying' });
    await stage.mend(provider, 3600);
    expect(await remains(model)).toEqual(nothing);
    expect([provider.groups.size, provider.networks.size, provider.services.size]).toEqual([0, 0, 0]);
  });
});

test('JU-10 controllers share one cloud service, and the agreement covers two of them', async () => {
  const { model, newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
  expect(new Set(newMachines.map(({ cloudService }) => cloudService)).size).toBe(1);
  const { cloudServices: services } = await getTopology(ctx, { model });
  expect(services).toHaveLength(1);
  expect(services[0]).toMatchObject({ label: 'controller', state: 'ready' });
  const deployment = services[0]?.deployments[0];
  expect(deployment).toMatchObject({ slot: 'production', covered: true });
  expect(deployment?.roles.map((role) => [role.controller, role.availabilitySet])).toEqual([
    [true, 'juju'],
    [true, 'juju'],
  ]);
  expect(deployment?.endpoints.map(({ publicPort, set, reachable }) => [publicPort, set, reachable])).toEqual([
    [22, 'tcp22-22', true],
    [22, 'tcp22-22', true],
    [17_070, 'tcp17070-17070', true],
    [17_070, 'tcp17070-17070', true],
  ]);
});

test('JU-6 the VMs of one availability set have one disruption group', async () => {
  const { newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
  const groups = await Promise.all(
    newMachines.map(async ({ vmId }) => (await ctx.db.select().from(vms).where(eq(vms.id, vmId)))[0]?.disruptionGroup),
  );
  expect(groups).toEqual([`${newMachines[0]?.cloudService}/juju`, `${newMachines[0]?.cloudService}/juju`]);
});

describe('destroying a model', () => {
  test('needs its name as confirmation', async () => {
    const { model } = await stage.bootstrapped();
    await expect(destroyModel(ctx, { model })).rejects.toMatchObject({ kind: 'conflict', code: 'model_confirmation' });
    expect((await getModel(ctx, { model })).life).toBe('alive');
  });

  test('JU-18 deletes the machines first and the storage last, and frees the name', async () => {
    const { model, provider } = await stage.bootstrapped();
    await addMachine(ctx, { model }, provider);
    provider.calls.length = 0;
    expect((await destroyModel(ctx, { model, confirm: model })).life).toBe('destroying');
    await expect(addMachine(ctx, { model }, provider)).rejects.toMatchObject({ code: 'model_dying' });
    await expect(createModel(ctx, { ...lab, name: model })).rejects.toMatchObject({ code: 'model_name_taken' });
    let objects = -1;
    provider.fate = async (step): Promise<Fate> => {
      if (step === 'dropAffinityGroup') ({ objects } = await remains(model));
      return 'succeed';
    };
    expect(await stage.mend(provider)).toBe(0);
    expect(provider.calls.map((call) => call.split(' ')[0])).toEqual([
      ...['dropRoles', 'dropCloudService', 'dropNetwork', 'dropAffinityGroup'],
    ]);
    expect(await remains(model)).toEqual(nothing);
    expect(objects).toBe(1);
    await expect(getModel(ctx, { model })).rejects.toMatchObject({ code: 'model_unknown' });
    expect((await createModel(ctx, { ...lab, name: model })).name).toBe(model);
  });

  test('JU-26 keeps an affinity group and a network that existed before the bootstrap', async () => {
    const model = await newModel();
    const provider = new FakeProvider();
    provider.groups.add(`juju-${model}-ag`);
    provider.networks.add(`juju-${model}-vnet`);
    await bootstrap(model, provider);
    await destroyModel(ctx, { model, confirm: model });
    await stage.mend(provider);
    expect([...provider.groups, ...provider.networks]).toEqual([`juju-${model}-ag`, `juju-${model}-vnet`]);
    expect(await remains(model)).toEqual({ ...nothing, groups: 1, networks: 1 });
  });

  test('JU-27 leaves a network behind after half a minute, but waits for every cloud service', async () => {
    const { model, provider } = await stage.bootstrapped();
    await addMachine(ctx, { model }, provider);
    await destroyModel(ctx, { model, confirm: model });
    provider.fate = (step) => (step === 'dropCloudService' ? 'failBefore' : 'succeed');
    await stage.mend(provider, 100);
    expect(await remains(model)).toMatchObject({ services: 1, networks: 1, objects: 1 });
    provider.fate = (step) => (step === 'dropNetwork' ? 'failBefore' : 'succeed');
    await stage.mend(provider, 29);
    expect(await remains(model)).toMatchObject({ services: 0, networks: 1, objects: 1 });
    expect(await stage.mend(provider, 31)).toBe(0);
    expect(await remains(model)).toEqual({ ...nothing, networks: 1 });
    const acts = await readActs(ctx.db, eq(auditEntries.targetId, model));
    expect(acts.at(-1)).toMatchObject({
      action: 'model.remove',
      details: { warnings: [{ code: 'network_left', name: `juju-${model}-vnet` }] },
    });
  });
});

test('JU-5 a role is in one cloud service and one availability set, and has a complete description', async () => {
  const { newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 1 });
  const [row] = await ctx.db
    .select()
    .from(vmRoles)
    .where(eq(vmRoles.vmId, newMachines[0]?.vmId ?? ''));
  expect(row).toMatchObject({
    ...{ availabilitySet: 'juju', hostname: newMachines[0]?.hostname, userName: 'annex' },
    ...{ disks: [{ name: 'os', sizeGib: 30 }], networkConfiguration: { network: expect.stringMatching(/-vnet$/) } },
  });
});
