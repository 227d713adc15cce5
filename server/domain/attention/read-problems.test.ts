import { beforeEach, expect, test } from 'vitest';
import { vmConcerns } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { countFleet } from '#server/domain/fleet/index.ts';
import { testContext } from '#server/testing/context.ts';
import { countProblems, type FleetProblem, filterOfProblem, readProblems } from './index.ts';
import { exit51, insertVms } from './testing/insert-vms.ts';

const now = new Date('2026-03-04T12:00:00Z');
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);

let ctx: Context;
beforeEach(async () => {
  ctx = await testContext({ role: 'viewer', now });
});

const causes = ({ health, vms, extension }: FleetProblem) =>
  extension === null
    ? [health, vms, null]
    : [health, vms, extension.cause, extension.messageId ?? extension.exitCode ?? extension.command];

/** Every kind of problem, and VMs that have other problems or none. */
const everyKind = [
  { name: 'well', count: 5, extension: {} },
  { name: 'exit', count: 3, health: 'failed', since: ago(9), apart: 60, extension: exit51 },
  { name: 'other-exit', health: 'failed', since: ago(3), extension: { ...exit51, exitCode: 3 } },
  { name: 'other-handler', health: 'failed', since: ago(2), extension: { ...exit51, handler: 'Acme.Lab.Other' } },
  {
    name: 'late',
    count: 2,
    health: 'failed',
    since: ago(8),
    extension: { health: 'failed', cause: 'timeout', command: 'install' },
  },
  {
    name: 'error',
    count: 2,
    health: 'failed',
    since: ago(6),
    extension: { health: 'failed', cause: 'status', messageId: '1215' },
  },
  {
    name: 'warns',
    count: 2,
    health: 'degraded',
    since: ago(5),
    extension: { health: 'degraded', cause: 'status', messageId: 'disk' },
  },
  { name: 'mute', count: 1, health: 'degraded', extension: { health: 'degraded', cause: 'status' } },
  {
    name: 'stale',
    count: 2,
    health: 'degraded',
    since: ago(4),
    extension: { health: 'degraded', cause: 'stale', messageId: 'disk' },
  },
  { name: 'waits', health: 'progressing', extension: { health: 'progressing', cause: 'waiting' } },
  { name: 'rack', count: 4, health: 'unresponsive', since: ago(30), apart: 50 },
  { name: 'dead', count: 2, health: 'unresponsive', since: ago(300), apart: 3_600 },
] as const;

test('extensions with the same handler and cause form one problem; the worst is listed first, then the one with the most VMs', async () => {
  await insertVms(ctx.db, now, everyKind);
  const { items, total } = await readProblems(ctx.db);
  expect(items.map(causes)).toEqual([
    ['failed', 3, 'exit', 51],
    ['failed', 2, 'timeout', 'install'],
    ['failed', 2, 'status', '1215'],
    ['failed', 1, 'exit', 3],
    ['failed', 1, 'exit', 51],
    ['unresponsive', 4, null],
    ['unresponsive', 2, null],
    ['degraded', 2, 'status', 'disk'],
    ['degraded', 2, 'stale', null],
    ['degraded', 1, 'status', null],
  ]);
  expect([total, await countProblems(ctx.db)]).toEqual([items.length, items.length]);
  expect(items[0]).toMatchObject({ since: ago(9).toISOString(), lastSince: ago(7).toISOString() });
  expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
});

test('the filter of each problem lists exactly its VMs', async () => {
  await insertVms(ctx.db, now, everyKind);
  const { items } = await readProblems(ctx.db);
  for (const problem of items) {
    const { matching } = await countFleet(ctx, filterOfProblem(problem));
    expect(matching, JSON.stringify(filterOfProblem(problem))).toBe(problem.vms);
  }
});

test('agents that became unresponsive within a minute of each other form a separate problem', async () => {
  await insertVms(ctx.db, now, [
    { name: 'rack-a', count: 3, health: 'unresponsive', since: ago(90), apart: 60 },
    { name: 'rack-b', count: 3, health: 'unresponsive', since: ago(60), apart: 1 },
    { name: 'pair', count: 2, health: 'unresponsive', since: ago(40), apart: 1 },
    { name: 'single', count: 1, health: 'unresponsive', since: ago(20) },
  ]);
  const { items } = await readProblems(ctx.db);
  expect(items.map(({ silence, vms, since }) => [silence, vms, since])).toEqual([
    ['together', 3, ago(90).toISOString()],
    ['together', 3, ago(60).toISOString()],
    ['alone', 3, ago(40).toISOString()],
  ]);
});

test('the key of a problem stays the same when its VMs change', async () => {
  const failing = { name: 'a', count: 2, health: 'failed', extension: exit51 } as const;
  await insertVms(ctx.db, now, [failing]);
  const [before] = (await readProblems(ctx.db)).items;
  await insertVms(ctx.db, now, [
    { ...failing, name: 'b', extension: { ...exit51, goalVersion: '1.3.0.0', version: '1.3.0.0' } },
  ]);
  const [after] = (await readProblems(ctx.db, [before?.key ?? ''])).items;
  expect(after).toMatchObject({ key: before?.key, vms: 4, versions: ['1.2.0.0', '1.3.0.0'] });
});

test('a VM with two extensions that have the same problem counts once', async () => {
  await insertVms(ctx.db, now, [{ name: 'a', health: 'failed', extension: exit51 }]);
  await ctx.db.execute(`insert into extension_health (vm_id, name, handler, goal_version, health, heartbeat, cause, command, exit_code, since)
    select vm_id, 'second', handler, goal_version, health, heartbeat, cause, command, exit_code, since from extension_health`);
  expect((await readProblems(ctx.db)).items).toMatchObject([{ vms: 1, extension: { name: null } }]);
});

test('VMs are found by whether their agents became unresponsive alone or together', async () => {
  await insertVms(ctx.db, now, everyKind);
  const count = async (silence: ('alone' | 'together')[]) =>
    (await countFleet(ctx, { silence } as Parameters<typeof countFleet>[1])).matching;
  expect(await count(['alone'])).toBe(2);
  expect(await count(['together'])).toBe(4);
  expect(await count(['together', 'alone'])).toBe(6);
});

test('extensions that are as declared, in progress or waiting are not problems', async () => {
  await insertVms(ctx.db, now, [
    { name: 'well', extension: {} },
    { name: 'off', extension: { health: 'disabled' } },
    { name: 'busy', health: 'progressing', extension: { health: 'progressing' } },
    { name: 'late', health: 'progressing', extension: { health: 'progressing', cause: 'stale' } },
    { name: 'waits', health: 'progressing', extension: { health: 'progressing', cause: 'waiting', waitsFor: 'mount' } },
    { name: 'new', health: 'unknown', extension: { health: 'unknown' } },
  ]);
  expect(await readProblems(ctx.db)).toEqual({ items: [], total: 0 });
  expect(await countProblems(ctx.db)).toBe(0);
});

test('the extensions of silent agents do not form another problem', async () => {
  const extension = { health: 'unresponsive', cause: 'silent' } as const;
  await insertVms(ctx.db, now, [{ name: 'dead', count: 3, health: 'unresponsive', extension }]);
  const { items } = await readProblems(ctx.db);
  expect(items).toMatchObject([{ health: 'unresponsive', vms: 3, extension: null }]);
});

test('an error and a warning with the same message are two problems', async () => {
  const status = { cause: 'status', messageId: 'disk' } as const;
  await insertVms(ctx.db, now, [
    { name: 'warns', health: 'degraded', extension: { ...status, health: 'degraded' } },
    { name: 'fails', health: 'failed', extension: { ...status, health: 'failed' } },
  ]);
  const { items } = await readProblems(ctx.db);
  expect(items.map(({ health, vms }) => [health, vms])).toEqual([
    ['failed', 1],
    ['degraded', 1],
  ]);
});

test('VMs whose worst unit fails in the same way are one problem, whose filter matches exactly them', async () => {
  const blog = {
    source: 'units',
    formula: 'Acme.Lab.blog',
    health: 'failed' as const,
    cause: 'exit',
    command: 'install',
  };
  await insertVms(ctx.db, now, [{ name: 'unit', count: 5, health: 'failed' }]);
  const { rows } = await ctx.db.execute<{ id: string }>('select vm_id as id from vm_health order by name');
  const ids = rows.map(({ id }) => id);
  const given = [
    { ...blog, subject: 'blog/0', exitCode: 3, since: ago(9) },
    { ...blog, subject: 'blog/1', exitCode: 3, since: ago(5) },
    { ...blog, subject: 'blog/2', exitCode: 4, since: ago(4) },
    { ...blog, subject: 'blog/3', health: 'degraded' as const, cause: 'release', command: null, since: ago(3) },
    { ...blog, subject: 'blog/4', health: 'progressing' as const, cause: 'retry', since: ago(2) },
  ];
  await ctx.db.insert(vmConcerns).values(given.flatMap((row, at) => (ids[at] ? [{ ...row, vmId: ids[at] }] : [])));
  const { items, total } = await readProblems(ctx.db);
  expect([total, await countProblems(ctx.db)]).toEqual([3, 3]);
  expect(items.map(causes)).toEqual([
    ['failed', 2, 'exit', 3],
    ['failed', 1, 'exit', 4],
    ['degraded', 1, 'release', null],
  ]);
  expect(items[0]).toMatchObject({
    ...{ since: ago(9).toISOString(), lastSince: ago(5).toISOString(), silence: null },
    extension: { isUnit: true, handler: 'Acme.Lab.blog', name: null, command: 'install' },
  });
  expect(items[2]?.extension).toMatchObject({ name: 'blog/3', command: null });
  for (const problem of items) {
    expect((await countFleet(ctx, filterOfProblem(problem))).matching, problem.key).toBe(problem.vms);
    expect((await readProblems(ctx.db, [problem.key])).items).toEqual([problem]);
  }
});
