import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import {
  agentsFolder,
  dropAgentRequest,
  listAgentFolders,
  listRoleInstances,
  maxSpawnedAgents,
  readAgentRequest,
  requestAgent,
} from './agent-requests.ts';
import { addMachine, removeMachine } from './index.ts';
import { localFabric } from './local-fabric.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let dataDir: string;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-agents-'));
});

const id = (n: number) => `juju-lab-k3j9x0a1bz-juju${String(n).padStart(10, '0')}`;
const request = { token: 'annex_enroll_x', address: '127.64.0.4' };

test('a request is read and dropped, and only the portal’s user can read it', async () => {
  await requestAgent(dataDir, { instanceId: id(1), ...request });
  expect(await readAgentRequest(dataDir, id(1))).toEqual(request);
  const file = join(agentsFolder(dataDir), 'requests', `${id(1)}.json`);
  expect((await stat(file)).mode & 0o077).toBe(0);
  await dropAgentRequest(dataDir, id(1));
  await dropAgentRequest(dataDir, id(1));
  expect(await readAgentRequest(dataDir, id(1))).toBeNull();
  await writeFile(file, '{');
  expect(await readAgentRequest(dataDir, id(1))).toBeNull();
});

test('agents are listed by their folders and requests, each once', async () => {
  expect(await listAgentFolders(dataDir)).toEqual([]);
  for (const n of [1, 2]) await requestAgent(dataDir, { instanceId: id(n), ...request });
  for (const n of [2, 3]) await mkdir(join(agentsFolder(dataDir), id(n)));
  expect(await listAgentFolders(dataDir)).toEqual([1, 2, 3].map(id));
});

test(`there are at most ${maxSpawnedAgents} agents, and further machines are enrolled by people`, async () => {
  const all = Array.from({ length: maxSpawnedAgents + 2 }, (_, n) => id(n));
  for (const instanceId of all) await requestAgent(dataDir, { instanceId, ...request });
  expect(await listAgentFolders(dataDir)).toEqual(all.slice(0, maxSpawnedAgents));
  // A repeated call for a known role replaces its request.
  await requestAgent(dataDir, { instanceId: id(0), ...request, address: '127.64.0.9' });
  expect(await readAgentRequest(dataDir, id(0))).toMatchObject({ address: '127.64.0.9' });
});

test('the fabric requests an agent for a role with ANNEX_FABRIC=spawn only', async () => {
  const { model } = await stage.bootstrapped({ name: 'agents' });
  const outcomes: string[][] = [];
  for (const mode of ['off', 'proxy', 'spawn'] as const) {
    const config = { ...ctx.config, dataDir, fabric: { ...ctx.config.fabric, mode } };
    const { instanceId, enrollmentToken, assignedAddress } = await addMachine(
      { ...ctx, config },
      { model },
      localFabric({ db: ctx.db, config }),
    );
    outcomes.push(await listAgentFolders(dataDir));
    if (mode !== 'spawn') continue;
    expect(outcomes).toEqual([[], [], [instanceId]]);
    const given = await readAgentRequest(dataDir, instanceId);
    expect(given).toEqual({ token: enrollmentToken, address: assignedAddress });
  }
});

test('roles that are being removed still have their agents, and roles that are gone have none', async () => {
  const { model, provider } = await stage.bootstrapped();
  const { instanceId, machine } = await addMachine(ctx, { model }, provider);
  await removeMachine(ctx, { model, machine });
  expect(await listRoleInstances(ctx)).toContain(instanceId);
  await stage.mend(provider);
  expect(await listRoleInstances(ctx)).not.toContain(instanceId);
  const viewer = await testContext({ services: ctx, role: 'viewer' });
  await expect(listRoleInstances(viewer)).rejects.toMatchObject({ code: 'forbidden' });
});
