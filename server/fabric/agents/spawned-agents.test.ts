import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  addMachine,
  agentsFolder,
  bootstrapModel,
  createModel,
  mendTopology,
  removeMachine,
} from '#server/domain/topology/index.ts';
import { lab, newStage } from '#server/domain/topology/testing/stage.ts';
import { processesBelow, signal } from '#server/platform/processes.ts';
import { type AgentDoor, openAgentDoor } from '#server/testing/agent-door.ts';
import { longTest } from '#server/testing/long.ts';
import { Fabric } from '../fabric.ts';
import { SpawnedAgents } from './spawned-agents.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const log = pino({ level: 'silent' });
let ctx: Context;
let door: AgentDoor;
let folder: string;

beforeAll(async () => {
  const stage = await newStage();
  ctx = stage.ctx;
  door = await openAgentDoor(ctx);
  folder = agentsFolder(ctx.config.dataDir);
  Object.assign(ctx.config.fabric, { mode: 'spawn', network: '127.64.0.0/12', addresses: '127.82.0.0/16' });
  await createModel(ctx, { ...lab, name: 'spawned', availabilitySetsEnabled: false });
  await bootstrapModel(ctx, { model: 'spawned' });
});
afterAll(() => door.close());

function startFabric() {
  const own = new SpawnedAgents({ config: ctx.config, root, portal: new URL(door.url).origin, log });
  const fabric = new Fabric({ ...ctx, log }, { agents: own, pace: { readMs: 100 } });
  const running = fabric.run();
  return async () => {
    fabric.stop();
    await running;
  };
}

const addressOf = async (vmId: string) =>
  (await ctx.db.select().from(agents).where(eq(agents.vmId, vmId)))[0]?.internalAddress;

test('with ANNEX_FABRIC=spawn, a new role has an agent that enrolls as its instance, and that ends with the role', {
  timeout: 60_000,
}, async () => {
  let stop = startFabric();
  const { vmId, instanceId, assignedAddress, machine } = await addMachine(ctx, { model: 'spawned' });
  await expect.poll(() => addressOf(vmId), { timeout: 30_000 }).toBe(assignedAddress);
  const own = join(folder, instanceId);
  const running = () => processesBelow(own);
  // The enrollment token is no longer on disk, and other users cannot read the folder.
  await expect.poll(() => readdir(join(folder, 'requests')), { timeout: 20_000 }).toEqual([]);
  await expect.poll(async () => (await running()).length, { timeout: 20_000 }).toBe(1);
  expect(existsSync(join(own, 'enrollment-token'))).toBe(false);
  expect((await stat(own)).mode & 0o077).toBe(0);

  // What hooks started ends with the fabric, so the agent takes the next start for a restart of the machine.
  const bootId = () => readFile(join(own, 'boot-id'), 'utf8');
  const before = await bootId();
  await stop();
  expect(await processesBelow(folder)).toEqual([]);
  stop = startFabric();
  await expect.poll(async () => (await running()).length, { timeout: 20_000 }).toBe(1);
  expect(await bootId()).not.toBe(before);

  await removeMachine(ctx, { model: 'spawned', machine, force: true });
  await mendTopology(ctx);
  await expect.poll(() => existsSync(own), { timeout: 20_000 }).toBe(false);
  expect(await processesBelow(folder)).toEqual([]);
  await stop();
});

longTest(
  'an agent that an earlier fabric left running is ended before the agents start',
  { timeout: 60_000 },
  async () => {
    const { instanceId, machine, vmId } = await addMachine(ctx, { model: 'spawned' });
    const earlier = new SpawnedAgents({ config: ctx.config, root, portal: new URL(door.url).origin, log });
    earlier.follow(async () => new Set([instanceId]));
    const own = join(folder, instanceId);
    await expect.poll(() => addressOf(vmId), { timeout: 30_000 }).toBeTruthy();
    await expect.poll(async () => (await processesBelow(own)).length, { timeout: 20_000 }).toBe(1);
    const [left = 0] = await processesBelow(own);

    const stop = startFabric();
    await expect.poll(() => processesBelow(own), { timeout: 20_000 }).not.toContain(left);
    await earlier.stop();
    await removeMachine(ctx, { model: 'spawned', machine, force: true });
    await mendTopology(ctx);
    await expect.poll(() => existsSync(own), { timeout: 20_000 }).toBe(false);
    await stop();
    for (const pid of await processesBelow(folder)) signal(pid, 'SIGKILL');
  },
);

longTest(
  'an agent that cannot enroll is not tried without end, and does not keep the others from starting',
  {
    timeout: 60_000,
  },
  async () => {
    const { instanceId } = await addMachine(ctx, { model: 'spawned' });
    const lines: unknown[] = [];
    const noted = { ...log, warn: (line: unknown) => void lines.push(line) } as unknown as typeof log;
    // Nothing listens at this portal.
    const own = new SpawnedAgents({
      config: ctx.config,
      root: '/nonexistent',
      portal: 'http://127.0.0.1:9',
      log: noted,
    });
    for (let count = 0; count < 6; count += 1) {
      own.follow(async () => new Set([instanceId]));
      await expect.poll(() => own.isSettled, { timeout: 10_000 }).toBe(true);
    }
    expect(lines).toHaveLength(5);
    await own.stop();
    expect(await processesBelow(folder)).toEqual([]);
  },
);
