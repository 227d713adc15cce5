import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, deployments, endpoints, fabricState, networks, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { memberPortKey } from '#server/domain/topology-rules/fabric.ts';
import { testContext } from '#server/testing/context.ts';
import { statementsOf } from '#server/testing/statements.ts';
import {
  closeEndpoint,
  getTopology,
  listEndpoints,
  moveInstance,
  noteFabric,
  readReachable,
  removeMachine,
  setEndpoint,
  swap,
} from './index.ts';
import { enrollMachine, type LabService, newService, stageRole } from './testing/lab-service.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let lab: LabService;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  lab = await newService(stage);
  await enrollMachine(ctx, lab.first, '10.0.0.4');
  await enrollMachine(ctx, lab.second, '10.0.0.5');
});

const web = { protocol: 'tcp', port: 80 } as const;
const open = (of: LabService, instance: string, given: { localPort?: number; set?: boolean } = { set: true }) =>
  setEndpoint(ctx, { instance, ...web, ...given }, of.provider);
const reachable = async ({ service }: LabService, publicPort = 80) => {
  const { endpoints: all } = await readReachable(ctx);
  return all.find((one) => one.cloudService === service && one.publicPort === publicPort);
};
const addresses = async (of: LabService, port?: number) =>
  (await reachable(of, port))?.members.map((one) => one.address);
const report = (vmId: string, address: string) =>
  ctx.db.update(agents).set({ internalAddress: address }).where(eq(agents.vmId, vmId));

describe('what the fabric serves', () => {
  test('JU-16 JU-17 has the public address, and the internal addresses of all roles in the set', async () => {
    for (const { instanceId } of [lab.first, lab.second]) await open(lab, instanceId, { set: true, localPort: 8_080 });
    const [row] = (await getTopology(ctx, { model: lab.model })).cloudServices;
    expect(await reachable(lab)).toEqual({
      ...{ cloudService: lab.service, publicAddress: row?.publicAddress, protocol: 'tcp', publicPort: 80 },
      members: [
        { vmId: lab.first.vmId, address: '10.0.0.4', localPort: 8_080 },
        { vmId: lab.second.vmId, address: '10.0.0.5', localPort: 8_080 },
      ],
    });
    expect(await addresses(lab, 22)).toEqual(['10.0.0.4', '10.0.0.5']);
    expect(await addresses(lab, 17_070)).toEqual(['10.0.0.4', '10.0.0.5']);
    await closeEndpoint(ctx, { instance: lab.first.instanceId, ...web }, lab.provider);
    expect(await addresses(lab)).toEqual(['10.0.0.5']);
    await closeEndpoint(ctx, { instance: lab.second.instanceId, ...web }, lab.provider);
    expect(await reachable(lab)).toBeUndefined();
  });

  test('is read with one statement', async () => {
    expect(await statementsOf(() => readReachable(ctx))).toHaveLength(1);
  });

  test('JU-35 follows the address that an agent reports', async () => {
    await moveInstance(ctx, lab.first.vmId, { id: lab.first.instanceId, address: '10.0.0.9' });
    expect(await addresses(lab, 22)).toEqual(['10.0.0.9', '10.0.0.5']);
    await report(lab.first.vmId, '10.0.0.4');
  });

  test.each([
    '169.254.169.254',
    '127.0.0.1',
    '127.80.0.7',
    '11.0.0.1',
    '::1',
    '10.0.0.4.',
    '010.0.0.4',
    'portal.internal',
    '',
  ])('JU-33 never has the address %j outside of the network, although it is stored', async (address) => {
    await report(lab.first.vmId, address);
    expect(await addresses(lab, 22)).toEqual(['10.0.0.5']);
    await report(lab.first.vmId, '10.0.0.4');
  });

  test('JU-33 never has an address of the fabric, although the network of the model contains it', async () => {
    const other = await newService(stage);
    await enrollMachine(ctx, other.first);
    await ctx.db
      .update(networks)
      .set({ cidr: '127.0.0.0/8' })
      .where(eq(networks.name, `juju-${other.model}-vnet`));
    await report(other.first.vmId, '127.80.0.7');
    expect(await addresses(other, 22)).toEqual([]);
    await report(other.first.vmId, '127.64.0.7');
    expect(await addresses(other, 22)).toEqual(['127.64.0.7']);
  });

  test('JU-30 has no machine of another model', async () => {
    const { endpoints: all } = await readReachable(ctx);
    const own = new Set([lab.first.vmId, lab.second.vmId]);
    const foreign = all
      .filter(({ cloudService }) => cloudService === lab.service)
      .flatMap(({ members }) => members.filter(({ vmId }) => !own.has(vmId)));
    expect(foreign).toEqual([]);
  });

  test('JU-16 has no port that a unit opened, as long as its service is not exposed', async () => {
    const [like] = await ctx.db.select().from(endpoints).where(eq(endpoints.vmId, lab.first.vmId));
    if (like === undefined) throw new Error('the role has no endpoint');
    await ctx.db.insert(endpoints).values({ ...like, publicPort: 8_000, source: 'unit:blog/0' });
    expect(await reachable(lab, 8_000)).toBeUndefined();
    const key = memberPortKey({ vmId: lab.first.vmId, protocol: 'tcp', publicPort: 8_000 });
    expect((await readReachable(ctx)).standing.has(key)).toBe(false);
    await ctx.db.delete(endpoints).where(eq(endpoints.publicPort, 8_000));
  });

  test('has the port of a machine that is not enrolled, without members', async () => {
    const other = await newService(stage);
    expect(await addresses(other, 22)).toEqual([]);
  });

  test('is for operators', async () => {
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    await expect(readReachable(viewer)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(noteFabric(viewer, { faults: [], traffic: [] })).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('JU-29 after a swap', () => {
  test('the public address leads only to the previous Staging, and connections of both may continue', async () => {
    const own = await newService(stage);
    for (const one of [own.first, own.second]) await enrollMachine(ctx, one);
    await open(own, own.first.instanceId);
    await open(own, own.second.instanceId);
    await stageRole(ctx, own.second);
    expect(await addresses(own)).toEqual([own.first.assignedAddress]);
    await swap(ctx, { cloudService: own.service }, own.provider);
    expect(await addresses(own)).toEqual([own.second.assignedAddress]);
    const { standing } = await readReachable(ctx);
    const keys = [own.first, own.second].map(({ vmId }) => memberPortKey({ vmId, protocol: 'tcp', publicPort: 80 }));
    expect(keys.map((key) => standing.has(key))).toEqual([true, true]);
    await closeEndpoint(ctx, { instance: own.first.instanceId, ...web }, own.provider);
    const after = (await readReachable(ctx)).standing;
    expect(keys.map((key) => after.has(key))).toEqual([false, true]);
  });

  test('with an empty Production, no port is served', async () => {
    const own = await newService(stage);
    await swap(ctx, { cloudService: own.service }, own.provider);
    expect(await reachable(own, 22)).toBeUndefined();
  });

  test('a machine that is being removed is left out', async () => {
    const own = await newService(stage);
    for (const one of [own.first, own.second]) await enrollMachine(ctx, one);
    await removeMachine(ctx, { model: own.model, machine: own.first.machine });
    expect(await addresses(own, 22)).toEqual([own.second.assignedAddress]);
  });
});

describe('what the fabric notes', () => {
  const served = () => {
    const { fabric } = ctx.config;
    return { ...ctx, config: { ...ctx.config, fabric: { ...fabric, mode: 'proxy' as const } } };
  };
  const ofPort = async (port = 22) =>
    (await listEndpoints(served(), { model: lab.model })).items.find((one) => one.publicPort === port);
  const traffic = (connections: number, bytes: number, vmId = lab.first.vmId) => ({
    ...{ vmId, protocol: 'tcp' as const, publicPort: 22, connections, bytes },
  });

  test('JU-32 is shown while it is running: traffic is added up, and a fault has its reason', async () => {
    await ctx.db.delete(fabricState);
    expect((await listEndpoints(served(), { model: lab.model })).proxy).toBe('stopped');
    expect(await ofPort()).toMatchObject({ fault: null, members: [{ traffic: null }, { traffic: null }] });
    const since = ctx.now.toISOString();
    const fault = {
      cloudService: lab.service,
      protocol: 'tcp' as const,
      publicPort: 22,
      reason: 'port_reserved' as const,
    };
    await noteFabric(ctx, { faults: [{ ...fault, since }], traffic: [traffic(2, 100)] });
    await noteFabric(ctx, { faults: [{ ...fault, since }], traffic: [traffic(1, 2 ** 40)] });
    expect((await listEndpoints(served(), { model: lab.model })).proxy).toBe('running');
    expect(await ofPort()).toMatchObject({
      fault: 'port_reserved',
      members: [{ traffic: { connections: 3, bytes: 100 + 2 ** 40 } }, { traffic: { connections: 0, bytes: 0 } }],
    });
    expect(await ofPort(17_070)).toMatchObject({ fault: null });
    expect((await listEndpoints(ctx, { model: lab.model })).proxy).toBe('off');
  });

  test('is not shown once the fabric has stopped', async () => {
    await noteFabric(ctx, { faults: [], traffic: [] });
    const later = { ...served(), now: new Date(ctx.now.getTime() + 91_000) };
    expect(await getTopology(later, { model: lab.model })).toMatchObject({ proxy: 'stopped' });
    expect(await getTopology(served(), { model: lab.model })).toMatchObject({ proxy: 'running' });
  });

  test('is dropped for a port that was closed, and begins at zero when the port is opened again', async () => {
    const at80 = (connections: number) => ({ ...traffic(connections, 1), publicPort: 80 });
    await noteFabric(ctx, { faults: [], traffic: [at80(1), traffic(1, 1, '00000000-0000-7000-8000-000000000000')] });
    await open(lab, lab.first.instanceId);
    expect(await ofPort(80)).toMatchObject({ members: [{ traffic: { connections: 0, bytes: 0 } }] });
    await noteFabric(ctx, { faults: [], traffic: [at80(5)] });
    expect(await ofPort(80)).toMatchObject({ members: [{ traffic: { connections: 5 } }] });
    await closeEndpoint(ctx, { instance: lab.first.instanceId, ...web }, lab.provider);
    await open(lab, lab.first.instanceId);
    expect(await ofPort(80)).toMatchObject({ members: [{ traffic: { connections: 0 } }] });
    await closeEndpoint(ctx, { instance: lab.first.instanceId, ...web }, lab.provider);
  });

  test('goes with the role and its deployment', async () => {
    const own = await newService(stage);
    await noteFabric(ctx, { faults: [], traffic: [traffic(1, 1, own.first.vmId)] });
    await removeMachine(ctx, { model: own.model, machine: own.first.machine, force: true });
    await stage.mend(own.provider);
    expect(await ctx.db.$count(endpoints, eq(endpoints.vmId, own.first.vmId))).toBe(0);
    expect(await ctx.db.$count(vmRoles, eq(vmRoles.vmId, own.first.vmId))).toBe(0);
    expect(await ctx.db.$count(deployments, eq(deployments.cloudService, own.service))).toBe(1);
  });
});
