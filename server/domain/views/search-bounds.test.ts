import { beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { idOf, insertFleet } from '#server/domain/fleet/testing/insert-fleet.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { findByName } from './search.ts';

const now = new Date('2026-03-01T12:00:00Z');
let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
  await insertFleet(ctx.db, now, [
    { name: 'cache', isDeleted: true, health: null },
    { name: 'Cache-9', health: 'failed' },
    { name: 'my-cache', health: null },
    ...Array.from({ length: 12 }, (_, n) => ({ name: `web-${String(n).padStart(2, '0')}` })),
    { name: 'a-web' },
    { name: 'back\\slash' },
  ]);
  const handlers = ['Acme.Web.Mount', 'Zed.Lab.WebMount', ...[...'abcdefghi'].map((each) => `Many.Lab.${each}`)];
  for (const handler of handlers) await givenVersion(ctx.db, { handler });
});

const vms = async (q: string) => (await findByName(ctx, { q })).vms.map(({ name }) => name);
const handlers = async (q: string) => (await findByName(ctx, { q })).handlers.map(({ handler }) => handler);

test('the first eight matches are found, names that begin with the text before other names', async () => {
  expect(await vms('web')).toEqual(Array.from({ length: 8 }, (_, n) => `web-0${n}`));
  expect(await handlers('many')).toHaveLength(8);
});

test.each([
  ['cache', ['Cache-9', 'my-cache']],
  ['  CACHE  ', ['Cache-9', 'my-cache']],
  ['\\', ['back\\slash']],
  ['web-_', []],
  ['nothing', []],
])('VMs with %j in their names: %j', async (q, expected) => {
  expect(await vms(q)).toEqual(expected);
});

test('each VM has its stored health, and none before the first evaluation', async () => {
  const found = await findByName(ctx, { q: 'cache' });
  expect(found.vms.map(({ health }) => health)).toEqual(['failed', null]);
});

test.each([
  ['a whole id in capital letters', () => idOf(1).toUpperCase(), ['Cache-9']],
  ['the id of a deleted VM', () => idOf(0), []],
  ['a part of an id', () => idOf(1).slice(0, 30), []],
])('%s', async (_, q, expected) => {
  expect(await vms(q())).toEqual(expected);
});

test('handlers whose type begins with the text come before handlers that contain it elsewhere', async () => {
  expect(await handlers('web')).toEqual(['Zed.Lab.WebMount', 'Acme.Web.Mount']);
  expect(await handlers('mount')).toEqual(['Acme.Web.Mount', 'Zed.Lab.WebMount']);
  expect(await handlers('%')).toEqual([]);
});
