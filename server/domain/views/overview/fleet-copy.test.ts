import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { testContext } from '#server/testing/context.ts';
import { getFleetMap } from './index.ts';

let ctx: Context;
const ids = new Map<string, string>();

beforeEach(async () => {
  ctx = await testContext({ role: 'viewer' });
  for (const name of ['a', 'b', 'c', 'd']) await givenVm(name, name === 'd' ? {} : { region: 'eu' });
});

async function givenVm(name: string, tags: Record<string, string>): Promise<void> {
  const id = randomUUID();
  ids.set(name, id);
  await ctx.db.insert(vms).values({ id, name, tags, createdAt: ctx.now, createdBy: 'test' });
  await ctx.db
    .insert(vmHealth)
    .values({ vmId: id, name, tags, health: 'healthy', rank: 5, agent: 'ready', since: ctx.now, deadlineAt: null });
  await checkCounts(ctx, ctx.now);
}

async function goes(name: string): Promise<void> {
  await ctx.db.delete(vmHealth).where(eq(vmHealth.vmId, ids.get(name) ?? ''));
  await checkCounts(ctx, ctx.now);
}

const set = (name: string, values: Partial<typeof vmHealth.$inferInsert>) =>
  ctx.db
    .update(vmHealth)
    .set({ ...values, writtenBy: sql`pg_current_xact_id()` })
    .where(eq(vmHealth.vmId, ids.get(name) ?? ''));
const failed = { health: 'failed', rank: 0 } as const;

/** Returns the map as text: each group with its cells and its number of failed VMs. */
async function drawn(): Promise<string> {
  const { groups } = await getFleetMap(ctx, { groupBy: 'tag:region' });
  return groups.map(({ key, cells, failed: count }) => `${key} ${cells} ${count}`).join(', ');
}

test('the next map shows the changes and keeps the rest', async () => {
  expect(await drawn()).toBe('eu h3 0, null h 0');
  await set('b', failed);
  expect(await drawn()).toBe('eu hfh 1, null h 0');
  expect(await drawn()).toBe('eu hfh 1, null h 0');
  await set('b', { health: 'unknown', rank: 4 });
  await set('d', failed);
  expect(await drawn()).toBe('eu hkh 0, null f 1');
});

test.each<[string, () => Promise<unknown>, string]>([
  ['comes', () => givenVm('bb', { region: 'ap' }), 'ap h 0, eu h3 0, null h 0'],
  ['goes', () => goes('a'), 'eu h2 0, null h 0'],
  ['has other tags', () => set('b', { tags: { region: 'ap' } }), 'ap h 0, eu h2 0, null h 0'],
  ['has another name', () => set('a', { name: 'z', ...failed }), 'eu h2f 1, null h 0'],
])('a VM that %s changes the map', async (_, change, expected) => {
  const { revision } = await getFleetMap(ctx, { groupBy: 'tag:region' });
  await change();
  expect(await drawn()).toBe(expected);
  expect((await getFleetMap(ctx, { groupBy: 'tag:region' })).revision).not.toBe(revision);
});

test('notices that one VM was added and another removed, although the number is the same', async () => {
  await drawn();
  await goes('a');
  await givenVm('e', { region: 'ap' });
  expect(await drawn()).toBe('ap h 0, eu h2 0, null h 0');
});

test('a change written before a map is read, and committed after, is in the next map', async () => {
  await drawn();
  await ctx.db.transaction(async (tx) => {
    await tx
      .update(vmHealth)
      .set({ ...failed, writtenBy: sql`pg_current_xact_id()` })
      .where(eq(vmHealth.vmId, ids.get('a') ?? ''));
    await set('b', failed);
    expect(await drawn()).toBe('eu hfh 1, null h 0');
    await set('c', failed);
    expect(await drawn()).toBe('eu hf2 2, null h 0');
  });
  expect(await drawn()).toBe('eu f3 3, null h 0');
});

test('every grouping has its own copy', async () => {
  await drawn();
  expect((await getFleetMap(ctx, { groupBy: 'none' })).groups).toMatchObject([{ cells: 'h4' }]);
  await set('a', failed);
  expect((await getFleetMap(ctx, { groupBy: 'none' })).groups).toMatchObject([{ cells: 'fh3' }]);
  expect(await drawn()).toBe('eu fh2 1, null h 0');
});

test('by default the map is grouped by the tag that divides the fleet best', async () => {
  for (const name of ['e', 'f', 'g']) await givenVm(name, { region: 'ap' });
  expect((await getFleetMap(ctx, {})).groupBy).toBe('tag:region');
});
