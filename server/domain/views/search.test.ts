import { beforeAll, expect, it } from 'vitest';
import { vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { searchVmsAndHandlers } from './search.ts';

let ctx: Context;
let viewer: Context;

beforeAll(async () => {
  ctx = await testContext();
  viewer = await testContext({ services: ctx, role: 'viewer' });
});

it('finds VMs by a part of the name, prefixes first', async () => {
  for (const name of ['my-db-1', 'db-2', 'db-1', 'web-1']) await registerVm(ctx, { name });
  const { vms } = await searchVmsAndHandlers(viewer, { q: 'DB' });
  expect(vms.map(({ name }) => name)).toEqual(['db-1', 'db-2', 'my-db-1']);
  expect(vms.every(({ health }) => health === null)).toBe(true);
});

it('returns the health that the worker derived', async () => {
  const { id, name } = await registerVm(ctx, { name: 'healthy-1' });
  const row = { vmId: id, name, tags: {}, health: 'healthy', rank: 5, agent: 'ready', since: ctx.now } as const;
  await ctx.db.insert(vmHealth).values(row).onConflictDoUpdate({ target: vmHealth.vmId, set: row });
  expect(await searchVmsAndHandlers(viewer, { q: id })).toEqual({
    vms: [{ id, name, health: 'healthy' }],
    handlers: [],
  });
});

it('treats wildcards literally', async () => {
  await registerVm(ctx, { name: 'under_score' });
  const names = async (q: string) => (await searchVmsAndHandlers(viewer, { q })).vms.map(({ name }) => name);
  expect(await names('_')).toEqual(['under_score']);
  expect(await names('%')).toEqual([]);
  expect(await names("' or 1=1 --")).toEqual([]);
});

it('finds handlers by a part of their id or of their publisher’s name', async () => {
  await givenVersion(ctx.db, { handler: 'Northwind.Storage.Mount' });
  const found = { handler: 'Northwind.Storage.Mount', publisher: 'Northwind.Storage' };
  expect((await searchVmsAndHandlers(viewer, { q: 'mou' })).handlers).toEqual([found]);
  expect((await searchVmsAndHandlers(viewer, { q: 'northwind' })).handlers).toEqual([found]);
});
