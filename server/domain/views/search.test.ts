import { beforeAll, expect, it } from 'vitest';
import { vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import { givenRollout } from '#server/domain/rollouts/testing/given-rollout.ts';
import { addMachine } from '#server/domain/topology/index.ts';
import { newStage } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { findByName } from './search.ts';

let ctx: Context;
let viewer: Context;

beforeAll(async () => {
  ctx = await testContext();
  viewer = await testContext({ services: ctx, role: 'viewer' });
});

it('finds VMs by a part of the name, prefixes first', async () => {
  for (const name of ['my-db-1', 'db-2', 'db-1', 'web-1']) await registerVm(ctx, { name });
  const { vms } = await findByName(viewer, { q: 'DB' });
  expect(vms.map(({ name }) => name)).toEqual(['db-1', 'db-2', 'my-db-1']);
  expect(vms.every(({ health }) => health === null)).toBe(true);
});

it('returns the health that the worker derived', async () => {
  const { id, name } = await registerVm(ctx, { name: 'healthy-1' });
  const row = { vmId: id, name, tags: {}, health: 'healthy', rank: 5, agent: 'ready', since: ctx.now } as const;
  await ctx.db.insert(vmHealth).values(row).onConflictDoUpdate({ target: vmHealth.vmId, set: row });
  expect(await findByName(viewer, { q: id })).toEqual({
    vms: [{ id, name, health: 'healthy' }],
    models: [],
    handlers: [],
    rollouts: [],
  });
});

it('treats wildcards literally', async () => {
  await registerVm(ctx, { name: 'under_score' });
  const names = async (q: string) => (await findByName(viewer, { q })).vms.map(({ name }) => name);
  expect(await names('_')).toEqual(['under_score']);
  expect(await names('%')).toEqual([]);
  expect(await names("' or 1=1 --")).toEqual([]);
});

it('finds handlers by a part of their id or of their publisher’s name', async () => {
  await givenVersion(ctx.db, { handler: 'Northwind.Storage.Mount' });
  const found = { handler: 'Northwind.Storage.Mount', publisher: 'Northwind.Storage' };
  expect((await findByName(viewer, { q: 'mou' })).handlers).toEqual([found]);
  expect((await findByName(viewer, { q: 'northwind' })).handlers).toEqual([found]);
});

it('finds rollouts by a part of their name or by their id, and lists those that have not ended first', async () => {
  const operator = await testContext({ services: ctx, role: 'operator' });
  const given = async (name: string, state: RolloutState) =>
    (await givenRollout(operator, { state, definition: { name } })).id;
  const running = await given('Mount 2.0 in production', 'running');
  const ended = await given('mount 1.9', 'finished');
  await given('disable probe', 'draft');
  const found = (await findByName(viewer, { q: 'moun' })).rollouts;
  expect(found).toEqual([
    { id: running, name: 'Mount 2.0 in production', state: 'running' },
    { id: ended, name: 'mount 1.9', state: 'finished' },
  ]);
  expect((await findByName(viewer, { q: ended })).rollouts.map(({ id }) => id)).toEqual([ended]);
  expect((await findByName(viewer, { q: '%' })).rollouts).toEqual([]);
});

it('finds models by a part of their name, and the VM of a role by its instance id', async () => {
  const stage = await newStage(ctx);
  const { model, provider } = await stage.bootstrapped({ name: 'edge-lab' });
  const { vmId, vm, instanceId } = await addMachine(stage.ctx, { model }, provider);
  expect((await findByName(viewer, { q: 'LAB' })).models).toEqual([{ name: 'edge-lab', location: 'West Lab' }]);
  expect((await findByName(viewer, { q: instanceId })).vms).toMatchObject([{ id: vmId, name: vm }]);
  expect((await findByName(viewer, { q: instanceId.slice(0, -1) })).vms).toEqual([]);
});
