import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { extensionHealth, healthTransitions, resources, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { rankOf, type VmHealth } from '#server/domain/verdicts/index.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import {
  getFleetMap,
  getFleetSummary,
  getMapCell,
  listDeadlines,
  listFailingTogether,
  listFleetEvents,
  listHealthChanges,
} from './index.ts';

const now = new Date('2026-03-04T12:00:00Z');
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
type Extension = Partial<typeof extensionHealth.$inferInsert>;

let ctx: Context;
beforeEach(async () => {
  ctx = await testContext({ role: 'viewer', now });
});

async function givenVm(
  name: string,
  { health = 'healthy' as VmHealth, tags = {}, since = ago(600), extensions = [] as Extension[] } = {},
): Promise<string> {
  const id = randomUUID();
  await ctx.db.insert(vms).values({ id, name, tags, createdAt: ago(900), createdBy: 'test' });
  const agent = health === 'unresponsive' ? 'unresponsive' : 'ready';
  await ctx.db
    .insert(vmHealth)
    .values({ vmId: id, name, tags, health, rank: rankOf(health), agent, since, deadlineAt: null });
  for (const extension of extensions) {
    await ctx.db.insert(extensionHealth).values({
      vmId: id,
      name: 'mount',
      handler: 'Acme.Lab.Mount',
      goalVersion: '1.2.0.0',
      version: '1.2.0.0',
      health: 'healthy',
      heartbeat: 'none',
      since,
      ...extension,
    });
  }
  await checkCounts(ctx, now);
  return id;
}

const became = (vmId: string, minutes: number, from: VmHealth | null, to: VmHealth) =>
  ctx.db.insert(healthTransitions).values({ vmId, at: ago(minutes), kind: 'health', from, to });
const failedBy51: Extension = { health: 'failed', cause: 'exit', command: 'enable', exitCode: 51 };

test('the tiles add up, and show which VMs came and went within the hour', async () => {
  await givenVm('a');
  const failed = await givenVm('b', { health: 'failed', since: ago(20), extensions: [failedBy51] });
  const back = await givenVm('c', { since: ago(10), extensions: [{}, { name: 'second' }] });
  const added = await givenVm('d', { health: 'unknown', since: ago(5) });
  await became(failed, 70, 'progressing', 'healthy');
  await became(failed, 30, 'healthy', 'degraded');
  await became(failed, 20, 'degraded', 'failed');
  await became(back, 10, 'failed', 'healthy');
  await became(added, 5, null, 'unknown');
  const { vms: all, extensions, counts } = await getFleetSummary(ctx);
  expect([all, extensions]).toEqual([4, 3]);
  expect(counts.map(({ health, vms: count, more, came, gone }) => [health, count, more, came, gone])).toEqual([
    ['healthy', 2, 0, 1, 1],
    ['unknown', 1, 1, 1, 0],
    ['progressing', 0, 0, 0, 0],
    ['degraded', 0, 0, 0, 1],
    ['unresponsive', 0, 0, 0, 0],
    ['failed', 1, 0, 1, 1],
  ]);
  expect(counts.reduce((sum, { vms: count }) => sum + count, 0)).toBe(all);
});

test('offers tags that divide the fleet as groupings', async () => {
  for (let index = 0; index < 30; index += 1) {
    const tags = { region: `r${index % 3}`, id: `only-${index}`, same: 'x', ...(index < 5 && { rare: `${index}` }) };
    await givenVm(`vm-${index}`, { tags });
  }
  expect((await getFleetSummary(ctx)).groupings).toEqual(['region']);
});

test('the map has one letter per VM, by name within its group', async () => {
  await givenVm('b', { tags: { region: 'eu' }, health: 'failed' });
  await givenVm('a', { tags: { region: 'eu' } });
  await givenVm('d', { tags: { region: 'ap' }, health: 'unresponsive' });
  await givenVm('c', { tags: { region: 'eu' } });
  await givenVm('e', { health: 'unknown' });
  const map = await getFleetMap(ctx, { groupBy: 'tag:region' });
  expect(map.groups).toEqual([
    { key: 'ap', rest: false, count: 1, failed: 0, unresponsive: 1, cells: 'u' },
    { key: 'eu', rest: false, count: 3, failed: 1, unresponsive: 0, cells: 'hfh' },
    { key: null, rest: false, count: 1, failed: 0, unresponsive: 0, cells: 'k' },
  ]);
  expect((await getFleetMap(ctx, { groupBy: 'none' })).groups).toMatchObject([{ key: null, cells: 'hfhuk' }]);
  expect((await getFleetMap(ctx, { groupBy: 'tag:nobody' })).groups).toMatchObject([{ key: null, count: 5 }]);
});

test("grouped by handler, a VM shows the worst health of that handler's extensions", async () => {
  const two = [
    failedBy51,
    { name: 'other' },
    { name: 'third', handler: 'Acme.Lab.Other', health: 'disabled' as const },
  ];
  await givenVm('b', { health: 'failed', extensions: two });
  await givenVm('a', { extensions: [{}] });
  const { groups } = await getFleetMap(ctx, { groupBy: 'handler' });
  expect(groups).toMatchObject([
    { key: 'Acme.Lab.Mount', cells: 'hf', failed: 1 },
    { key: 'Acme.Lab.Other', cells: 'x' },
  ]);
});

test('with more than 24 groups, the smallest are combined', async () => {
  for (let index = 0; index < 30; index += 1) await givenVm(`vm-${index}`, { tags: { rack: `r${index}` } });
  await givenVm('more', { tags: { rack: 'r29' } });
  const { groups } = await getFleetMap(ctx, { groupBy: 'tag:rack' });
  expect(groups).toHaveLength(24);
  expect(groups.at(-1)).toMatchObject({ key: null, rest: true, count: 7 });
  expect(groups.some(({ key }) => key === 'r29')).toBe(true);
});

test('a cell keeps the VM of the map that was read, however its health changes', async () => {
  await givenVm('a', { tags: { region: 'eu' } });
  const id = await givenVm('b', {
    tags: { region: 'eu' },
    health: 'failed',
    extensions: [failedBy51, { name: 'snapshot', health: 'progressing', cause: 'waiting', waitsFor: 'mount' }],
  });
  const { revision } = await getFleetMap(ctx, { groupBy: 'tag:region' });
  const at = { groupBy: 'tag:region', revision, group: 0, index: 1 } as const;
  const { isStale, cell } = await getMapCell(ctx, at);
  expect(isStale).toBe(false);
  expect(cell).toMatchObject({ id, name: 'b', health: 'failed', lastSeenAt: null });
  expect(cell?.troubles.map(({ extension, cause }) => [extension, cause])).toEqual([
    ['mount', 'exit'],
    ['snapshot', 'waiting'],
  ]);

  await ctx.db.update(vmHealth).set({ health: 'healthy', rank: 5 });
  expect((await getFleetMap(ctx, { groupBy: 'tag:region' })).revision).toBe(revision);
  // A request can reach a process that did not return the map. There, the same fleet has the same revision.
  const elsewhere = { ...ctx, memory: new ProcessMemory() };
  expect((await getMapCell(elsewhere, at)).cell?.id).toBe(id);

  await givenVm('aa', { tags: { region: 'eu' } });
  expect((await getFleetMap(ctx, { groupBy: 'tag:region' })).revision).not.toBe(revision);
  expect((await getMapCell(ctx, at)).cell?.id).toBe(id);
  expect(await getMapCell({ ...ctx, memory: new ProcessMemory() }, at)).toEqual({ isStale: true, cell: null });
  expect(await getMapCell(ctx, { ...at, index: 7 })).toEqual({ isStale: false, cell: null });
});

test('concurrent requests for maps by many tags read the fleet one at a time', async () => {
  await givenVm('a', { tags: { region: 'eu' } });
  let running = 0;
  let most = 0;
  const db = Object.create(ctx.db, {
    execute: {
      value: async (statement: Parameters<typeof ctx.db.execute>[0]) => {
        most = Math.max(most, ++running);
        return ctx.db.execute(statement).finally(() => running--);
      },
    },
  });
  const maps = await Promise.all(
    Array.from({ length: 8 }, (_, index) => getFleetMap({ ...ctx, db }, { groupBy: `tag:t${index}` })),
  );
  expect([most, maps.every(({ groups }) => groups[0]?.count === 1)]).toEqual([1, true]);
});

test('failures with the same cause are one group, with what its VMs share', async () => {
  for (let index = 0; index < 20; index += 1) await givenVm(`well-${index}`, { tags: { region: 'eu', env: 'prod' } });
  for (let index = 0; index < 4; index += 1) {
    const tags = { region: 'ap', env: 'prod' };
    const version = index === 0 ? '1.3.0.0' : '1.2.0.0';
    await givenVm(`ap-${index}`, {
      tags,
      health: 'failed',
      since: ago(9 - index),
      extensions: [{ ...failedBy51, version }],
    });
  }
  await givenVm('other', { health: 'failed', since: ago(2), extensions: [{ ...failedBy51, exitCode: 3 }] });
  const [together, alone, ...rest] = await listFailingTogether(ctx);
  expect(rest).toEqual([]);
  expect(together).toMatchObject({
    health: 'failed',
    vms: 4,
    since: ago(9).toISOString(),
    vm: null,
    common: { name: 'region', value: 'ap', share: 1, fleetShare: 4 / 25 },
    extension: { handler: 'Acme.Lab.Mount', name: 'mount', exitCode: 51, versions: ['1.2.0.0', '1.3.0.0'] },
  });
  expect(alone).toMatchObject({ vms: 1, common: null, vm: { name: 'other' }, extension: { exitCode: 3 } });
});

test("a message is shown in the user's language, without params that differ between VMs", async () => {
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Mount', version: '1.2.0.0' });
  const texts = { en: 'Disk {0} is nearly full', de: 'Datenträger {0} ist fast voll' };
  for (const [lang, text] of Object.entries(texts)) {
    await ctx.db.insert(resources).values({
      handler: 'Acme.Lab.Mount',
      version: '1.2.0.0',
      lang,
      messages: { disk: text },
      warnings: [],
      updatedAt: now,
      updatedBy: 'test',
    });
  }
  const warns: Extension = { health: 'degraded', cause: 'status', messageId: 'disk' };
  for (const name of ['a', 'b']) await givenVm(name, { health: 'degraded', extensions: [warns] });
  const [group] = await listFailingTogether(ctx, { acceptLanguage: 'de-AT' });
  expect(group?.extension).toMatchObject({ message: { text: 'Datenträger … ist fast voll', lang: 'de' } });
  const [inEnglish] = await listFailingTogether(ctx, { acceptLanguage: 'fr' });
  expect(inEnglish?.extension?.message?.text).toBe('Disk … is nearly full');
});

test('VMs on which the same part fails are one group, under the message of that part', async () => {
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Mount', version: '1.2.0.0' });
  const about = { handler: 'Acme.Lab.Mount', version: '1.2.0.0', warnings: [], updatedAt: now, updatedBy: 'test' };
  await ctx.db.insert(resources).values({ ...about, lang: 'en', messages: { disk: 'Disk is full', up: 'Mounted' } });
  const broken: Extension = { health: 'degraded', cause: 'substatus', messageId: 'disk' };
  for (const name of ['a', 'b']) await givenVm(name, { health: 'degraded', extensions: [broken] });
  expect(await listFailingTogether(ctx, { acceptLanguage: 'en' })).toMatchObject([
    { vms: 2, extension: { cause: 'substatus', messageId: 'disk', message: { text: 'Disk is full' } } },
  ]);
});

test('VMs that became unresponsive together are one group; waiting or silent extensions are not a cause', async () => {
  const silent: Extension = { health: 'unresponsive', cause: 'silent' };
  for (const minutes of [20, 19, 18]) {
    await givenVm(`s-${minutes}`, { health: 'unresponsive', since: ago(minutes), extensions: [silent] });
  }
  await givenVm('earlier', { health: 'unresponsive', since: ago(300) });
  await givenVm('waits', { health: 'progressing', extensions: [{ health: 'progressing', cause: 'waiting' }] });
  expect((await listFailingTogether(ctx)).map(({ vms: count, since, extension }) => [count, since, extension])).toEqual(
    [
      [3, ago(20).toISOString(), null],
      [1, ago(300).toISOString(), null],
    ],
  );
  const events = await listFleetEvents(ctx);
  expect(events).toEqual([]);
});

test('changes of the hour are counted in bars of two and a half minutes', async () => {
  const id = await givenVm('a');
  const other = await givenVm('b', { health: 'failed' });
  await became(id, 61, 'healthy', 'failed');
  await became(id, 20, 'failed', 'progressing');
  await became(id, 1, 'progressing', 'healthy');
  await became(other, 1, 'healthy', 'failed');
  await became(other, 50, null, 'unknown');
  const changes = await listHealthChanges(ctx);
  expect(changes).toMatchObject({
    vms: 2,
    totals: { healthy: 1, started: 1, degraded: 0, failed: 1, silent: 0 },
  });
  expect(changes.bars).toHaveLength(24);
  expect(changes.bars.filter(({ healthy, started, failed }) => healthy + started + failed > 0)).toMatchObject([
    { from: ago(20).toISOString(), started: 1 },
    { from: ago(2.5).toISOString(), healthy: 1, failed: 1 },
  ]);
});

test('missed deadlines are counted, and the next deadlines are listed', async () => {
  const late: Extension = { health: 'failed', cause: 'deadline', deadlineAt: ago(5) };
  const id = await givenVm('late', { health: 'failed', extensions: [late] });
  await givenVm('soon', { health: 'progressing', extensions: [{ health: 'progressing', deadlineAt: ago(-3) }] });
  await givenVm('later', { health: 'progressing', extensions: [{ health: 'progressing', deadlineAt: ago(-30) }] });
  expect(await listDeadlines(ctx)).toEqual({
    past: 1,
    overdue: [{ vmId: id, vm: 'late', extension: 'mount', at: ago(5).toISOString() }],
    next: { vmId: expect.any(String), vm: 'soon', extension: 'mount', at: ago(-3).toISOString() },
  });
});

test('one VM that failed is an event with its cause, and many together are one event', async () => {
  const id = await givenVm('alone', { health: 'failed', extensions: [failedBy51] });
  await became(id, 3, 'healthy', 'failed');
  for (let index = 0; index < 3; index += 1) {
    const tags = { region: 'ap' };
    const silent = await givenVm(`s-${index}`, { health: 'unresponsive', tags });
    await became(silent, 30.5 + index / 10, 'healthy', 'unresponsive');
  }
  expect(await listFleetEvents(ctx)).toMatchObject([
    { health: 'failed', vms: 1, vm: { name: 'alone' }, extension: { name: 'mount', cause: 'exit', exitCode: 51 } },
    { health: 'unresponsive', vms: 3, vm: null, common: { name: 'region', value: 'ap' } },
  ]);
});

longTest('thousands of VMs that stopped together are all counted', async () => {
  const since = sql`${ago(9)}::timestamptz - n * interval '10 milliseconds'`;
  await ctx.db.execute(sql`
    with made as (
      insert into ${vms} (id, name, tags, created_at, created_by)
      select gen_random_uuid(), 'rack-' || n, '{}', ${ago(900)}, 'test' from generate_series(1, 6000) n
      returning id, name, tags
    ), numbered as (
      select *, row_number() over () as n from made
    ), kept as (
      insert into ${vmHealth} (vm_id, name, tags, health, rank, agent, since)
      select id, name, tags, 'unresponsive', 1, 'unresponsive', ${since} from numbered
    )
    insert into ${healthTransitions} (at, vm_id, kind, "from", "to")
    select ${since}, id, 'health', 'healthy', 'unresponsive' from numbered`);
  expect(await listFailingTogether(ctx)).toMatchObject([{ health: 'unresponsive', vms: 6_000, vm: null }]);
  expect(await listFleetEvents(ctx)).toMatchObject([{ health: 'unresponsive', vms: 6_000, vm: null }]);
});

test('rejects callers who are not signed in', async () => {
  const signedOut = await testContext({ role: null, services: ctx });
  await expect(getFleetMap(signedOut, { groupBy: 'none' })).rejects.toMatchObject({ kind: 'unauthenticated' });
  await expect(getFleetSummary(signedOut)).rejects.toMatchObject({ kind: 'unauthenticated' });
});
