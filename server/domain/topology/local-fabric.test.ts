import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { cloudServices, models, networks } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { addMachine, createModel, getTopology, removeMachine } from './index.ts';
import { localFabric, networkOf } from './local-fabric.ts';
import { lab, newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let modelId: string;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  await createModel(ctx, { ...lab, name: 'fabric' });
  const [row] = await ctx.db.select().from(models).where(eq(models.name, 'fabric'));
  modelId = row?.id ?? '';
});

const created = () => ({ createdAt: ctx.now, createdBy: 'Test' });
const fabricWith = (fabric: Partial<Context['config']['fabric']>) =>
  localFabric({ db: ctx.db, config: { ...ctx.config, fabric: { ...ctx.config.fabric, ...fabric } } });
const service = (name: string) => ({ name, label: null, affinityGroup: 'juju-fabric-ag' });
const insertService = (name: string, publicAddress: string | null, goneAt: Date | null = null) =>
  ctx.db.insert(cloudServices).values({
    ...{ name, modelId, state: 'ready', nextDeployment: 3, publicAddress, goneAt },
    ...created(),
  });
const role = (network: string) => ({
  ...{
    name: 'jujuaaaaaaaaaa',
    hostname: 'fabric-0',
    userName: 'annex',
    password: 'secret',
    size: 'default',
    disks: [],
  },
  ...{ network, availabilitySet: null },
  enrollment: { instanceId: 'juju-fabric-x-jujuaaaaaaaaaa', token: 'annex_enroll_x' },
});
const insertNetwork = (name: string, cidr: string) => ctx.db.insert(networks).values({ name, cidr, ...created() });
const assign = (network: string, fabric = localFabric(ctx)) => fabric.role('juju-fabric-x', 'v2', role(network));

describe('JU-1 a cloud service', () => {
  test('gets one DNS name in the domain and one address in the network of public addresses', async () => {
    const fabric = fabricWith({ addresses: '127.90.0.0/24', domain: 'lab.example' });
    const { dnsName, publicAddress } = await fabric.cloudService(service('juju-fabric-aaaaaaaaaa'));
    expect(dnsName).toBe('juju-fabric-aaaaaaaaaa.lab.example');
    expect(publicAddress).toMatch(/^127\.90\.0\.\d+$/);
  });

  test('keeps its address if the call is repeated', async () => {
    await insertService('juju-fabric-bbbbbbbbbb', '127.91.0.9');
    const repeated = await fabricWith({ addresses: '127.91.0.0/24' }).cloudService(service('juju-fabric-bbbbbbbbbb'));
    expect(repeated.publicAddress).toBe('127.91.0.9');
  });

  test('never gets the address of another one, and gets the address of a deleted one', async () => {
    const fabric = fabricWith({ addresses: '127.92.0.0/29' });
    await insertService('juju-fabric-cccccccccc', '127.92.0.4');
    await insertService('juju-fabric-dddddddddd', '127.92.0.5');
    await insertService('juju-fabric-eeeeeeeeee', '127.92.0.6', ctx.now);
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await fabric.cloudService(service('juju-fabric-ffffffffff'))).publicAddress).toBe('127.92.0.6');
    }
  });

  test('is not created if every address is in use', async () => {
    const fabric = fabricWith({ addresses: '127.93.0.0/29' });
    for (const last of [4, 5, 6]) await insertService(`juju-fabric-full00000${last}`, `127.93.0.${last}`);
    await expect(fabric.cloudService(service('juju-fabric-gggggggggg'))).rejects.toThrow('is in use');
  });
});

describe('a role', () => {
  test('gets the next address of its network', async () => {
    await insertNetwork('net-next', '10.50.0.0/24');
    const addresses = [await assign('net-next'), await assign('net-next'), await assign('net-next')];
    expect(addresses.map(({ assignedAddress }) => assignedAddress)).toEqual(['10.50.0.4', '10.50.0.5', '10.50.0.6']);
  });

  test('gets an address that no other role gets at the same time', async () => {
    await insertNetwork('net-many', '10.51.0.0/24');
    const addresses = await Promise.all(Array.from({ length: 6 }, () => assign('net-many')));
    expect(new Set(addresses.map(({ assignedAddress }) => assignedAddress)).size).toBe(6);
  });

  test('gets an address from the beginning after the last one, unless a role still has it', async () => {
    const { model } = await stage.bootstrapped();
    const network = `juju-${model}-vnet`;
    await ctx.db.update(networks).set({ cidr: '10.52.0.0/29' }).where(eq(networks.name, network));
    const add = () => addMachine(ctx, { model });
    const [first, second] = [await add(), await add()];
    expect([first.assignedAddress, second.assignedAddress]).toEqual(['10.52.0.4', '10.52.0.5']);
    await removeMachine(ctx, { model, machine: first.machine });
    await stage.mend(stage.nothing());
    expect([(await add()).assignedAddress, (await add()).assignedAddress]).toEqual(['10.52.0.6', '10.52.0.4']);
    await expect(add()).rejects.toMatchObject({ code: 'provider_failed', params: { step: 'deployment' } });
    const { cloudServices: services } = await getTopology(ctx, { model });
    expect(services).toHaveLength(3);
  });

  test('whose agent runs on the portal’s machine gets an address that no role of another model has', async () => {
    const fabric = fabricWith({ mode: 'spawn' });
    const names = ['net-dev', 'net-test', 'net-live'];
    for (const name of names) await insertNetwork(name, '127.64.0.0/24');
    const addresses = await Promise.all([...names, ...names].map((name) => assign(name, fabric)));
    expect(new Set(addresses.map(({ assignedAddress }) => assignedAddress)).size).toBe(6);
  });

  test('needs a network that exists', async () => {
    await expect(assign('absent')).rejects.toThrow('the network absent does not exist');
  });
});

test('creating and deleting everything else always succeeds', async () => {
  const fabric = localFabric(ctx);
  expect(await fabric.affinityGroup('juju-x-ag', 'West Lab')).toBe('created');
  expect(await fabric.network('juju-x-vnet', '10.0.0.0/8')).toBe('created');
  await fabric.endpoints('juju-x-y', 'v2', 'juju', []);
  await fabric.dropRoles('juju-x-y', 'v2', ['juju']);
  await fabric.dropCloudService('juju-x-y');
  await fabric.dropNetwork('juju-x-vnet');
  await fabric.dropAffinityGroup('juju-x-ag');
});

test('a network whose first address is not its own is not accepted', () => {
  expect(networkOf('10.0.0.0/8')).toEqual({ first: 167_772_160, size: 16_777_216 });
  expect(() => networkOf('10.0.0.1/8')).toThrow('is not an IPv4 network');
});
