import { once } from 'node:events';
import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  addMachine,
  bootstrapModel,
  closeEndpoint,
  createModel,
  listEndpoints,
  removeMachine,
  setEndpoint,
  swap,
} from '#server/domain/topology/index.ts';
import { enrollMachine } from '#server/domain/topology/testing/lab-service.ts';
import { lab, newStage } from '#server/domain/topology/testing/stage.ts';
import { Fabric } from './fabric.ts';
import { ask, dial, freePort, type LabMember, tcpMember } from './testing/lab-members.ts';

let ctx: Context;
let fabric: Fabric;
let running: Promise<void>;
const members: LabMember[] = [];
let models = 0;

beforeAll(async () => {
  const stage = await newStage();
  ctx = stage.ctx;
  // All of 127.0.0.0/8 is on this machine, so that the test needs neither rights nor a network.
  Object.assign(ctx.config.fabric, { mode: 'proxy', network: '127.64.0.0/12', addresses: '127.81.0.0/16' });
  start();
});
afterAll(async () => {
  await stop();
  for (const { close } of members) await close();
});

function start(): void {
  fabric = new Fabric({ ...ctx, log: pino({ level: 'silent' }) }, { pace: { readMs: 60_000, noteMs: 0 } });
  running = fabric.run();
}
const stop = async (): Promise<void> => {
  fabric.stop();
  await running;
};

/** A machine with an enrolled agent and a small server that sends the machine's name. */
interface LabMachine {
  instance: string;
  /** Its address in the network of its model. */
  address: string;
  machine: number;
  vmId: string;
  cloudService: string;
  localPort: number;
}

async function newMachines(count: number): Promise<{ model: string; address: string; machines: LabMachine[] }> {
  models += 1;
  const model = `lab-${models}`;
  const isAlone = count === 1;
  await createModel(ctx, { ...lab, name: model, availabilitySetsEnabled: !isAlone });
  const { newMachines: controllers } = await bootstrapModel(ctx, { model, controllers: isAlone ? 0 : count });
  const created = isAlone ? [await addMachine(ctx, { model })] : controllers;
  const machines: LabMachine[] = [];
  for (const one of created) {
    await enrollMachine(ctx, one);
    const server = await tcpMember(one.vm, one.assignedAddress, (socket) => socket.end(one.vm));
    members.push(server);
    const { instanceId: instance, assignedAddress: address, machine, vmId, cloudService } = one;
    machines.push({ instance, address, machine, vmId, cloudService, localPort: server.localPort });
  }
  const { items } = await listEndpoints(ctx, { model });
  return { model, address: items[0]?.publicAddress ?? '', machines };
}

const open = (port: number, machines: readonly LabMachine[]) =>
  Promise.all(
    machines.map(({ instance, localPort }) =>
      setEndpoint(ctx, { instance, protocol: 'tcp', port, localPort, set: true }),
    ),
  );
/** Resolves once the public port answers like this. */
const answers = (address: string, port: number, answer: string) =>
  expect.poll(() => ask(address, port), { timeout: 5_000, interval: 10 }).toBe(answer);

describe('JU-32 with ANNEX_FABRIC=proxy', () => {
  test('an open port is reachable at the public address, and connections reach each machine in turn', async () => {
    const { model, address, machines } = await newMachines(2);
    const port = await freePort(address);
    await open(port, machines);
    await answers(address, port, `${model}-0`);
    await answers(address, port, `${model}-1`);
    const met: string[] = [];
    for (let count = 0; count < 100; count += 1) met.push(await ask(address, port));
    expect(met.filter((one) => one === `${model}-0`)).toHaveLength(50);
    const portOf = async () => (await listEndpoints(ctx, { model })).items.find((one) => one.publicPort === port);
    await stop();
    start();
    const counts = (await portOf())?.members.map(({ traffic }) => traffic?.connections ?? 0) ?? [];
    expect(counts[0]).toBeGreaterThanOrEqual(50);
    expect(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0))).toBeLessThanOrEqual(2);
    for (const { instance } of machines) await closeEndpoint(ctx, { instance, protocol: 'tcp', port });
    await answers(address, port, 'error ECONNREFUSED');
  });

  test('a machine that is being removed gets no further connections', async () => {
    const { model, address, machines } = await newMachines(2);
    const port = await freePort(address);
    await open(port, machines);
    await answers(address, port, `${model}-1`);
    await removeMachine(ctx, { model, machine: machines[1]?.machine ?? 0 });
    await expect
      .poll(async () => new Set([await ask(address, port), await ask(address, port)]), { timeout: 5_000 })
      .toEqual(new Set([`${model}-0`]));
  });

  test('JU-29 a swap with one slot filled ends reachability, and a second one restores it', async () => {
    const { model, address, machines } = await newMachines(1);
    const port = await freePort(address);
    await open(port, machines);
    await answers(address, port, `${model}-0`);
    const cloudService = machines[0]?.cloudService ?? '';
    await swap(ctx, { cloudService });
    await answers(address, port, 'error ECONNREFUSED');
    await swap(ctx, { cloudService });
    await answers(address, port, `${model}-0`);
  });

  test('a port that cannot be listened on is shown with its reason, and the others are served', async () => {
    const { model, address, machines } = await newMachines(1);
    const ports = [await freePort(address), await freePort(address)] as const;
    const taken = await tcpMember('taken', address, (socket) => socket.end('other program'), { port: ports[0] });
    for (const port of ports) await open(port, machines);
    await answers(address, ports[1], `${model}-0`);
    const faultOf = async (port: number) =>
      (await listEndpoints(ctx, { model })).items.find((one) => one.publicPort === port)?.fault;
    await expect.poll(() => faultOf(ports[0])).toBe('address_in_use');
    expect(await faultOf(ports[1])).toBeNull();
    expect(await ask(address, ports[0])).toBe('other program');
    await taken.close();
    // The next change is a reason to read the endpoints, and the port is tried again.
    await open(await freePort(address), machines);
    await answers(address, ports[0], `${model}-0`);
    await expect.poll(() => faultOf(ports[0])).toBeNull();
  });

  test('JU-33 an address outside of the network is never connected to, whatever an agent stored', async () => {
    const { address, machines } = await newMachines(1);
    const port = await freePort(address);
    const met: string[] = [];
    const victim = await tcpMember('victim', '127.0.0.1', () => void met.push('victim'), {
      port: machines[0]?.localPort ?? 0,
    });
    members.push(victim);
    const vmId = machines[0]?.vmId ?? '';
    await ctx.db.update(agents).set({ internalAddress: '127.0.0.1' }).where(eq(agents.vmId, vmId));
    await open(port, machines);
    await answers(address, port, '');
    expect(met).toEqual([]);
  });
});

test('while the database is unavailable, the fabric serves what it read last', async () => {
  const { model, address, machines } = await newMachines(1);
  const port = await freePort(address);
  await open(port, machines);
  await stop();
  let isAway = false;
  const db = new Proxy(ctx.db, {
    get: (target, key) => {
      if (isAway && key === 'select') throw new Error('the database is away');
      return Reflect.get(target, key);
    },
  });
  fabric = new Fabric({ ...ctx, db, log: pino({ level: 'silent' }) }, { pace: { readMs: 5 } });
  running = fabric.run();
  await answers(address, port, `${model}-0`);
  isAway = true;
  for (let count = 0; count < 5; count += 1) expect(await ask(address, port)).toBe(`${model}-0`);
  isAway = false;
  const next = await freePort(address);
  await open(next, machines);
  await answers(address, next, `${model}-0`);
});

test('stopping the fabric ends its connections and frees its ports', async () => {
  const { address, machines } = await newMachines(1);
  const port = await freePort(address);
  const holding = await tcpMember('holding', machines[0]?.address ?? '', (socket) => void socket.write('held'));
  members.push(holding);
  await open(
    port,
    machines.map((one) => ({ ...one, localPort: holding.localPort })),
  );
  const dialed = () => dial(address, port).catch(() => null);
  const socket = await vi.waitUntil(dialed, { timeout: 5_000 });
  expect(String(await once(socket, 'data'))).toBe('held');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await stop();
  await closed;
  expect(await ask(address, port)).toBe('error ECONNREFUSED');
  start();
});
