import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, extensionHealth, healthTransitions, users, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { countFleet } from '#server/domain/fleet/index.ts';
import { idOf, insertFleet } from '#server/domain/fleet/testing/insert-fleet.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { countNewerActs, type FeedItem, getActivityCounts, getLastVisit, listFeed } from './index.ts';

const now = new Date('2026-03-04T12:00:00Z');
/** Returns a time on March 4, given in the form `03:12:30`. */
const at = (time: string): Date => new Date(`2026-03-04T${time}Z`);

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
});
beforeEach(async () => {
  for (const table of [auditEntries, extensionHealth, healthTransitions, vmHealth, vms, users])
    await ctx.db.delete(table);
  await insertFleet(
    ctx.db,
    now,
    Array.from({ length: 30 }, (_, place) => ({
      name: `vm-${place}`,
      isDeleted: place === 29,
      ...(place === 29 && { health: null }),
    })),
  );
});

type Transition = Partial<typeof healthTransitions.$inferInsert>;
const became = (place: number, time: string, from: string | null, to: string | null, more: Transition = {}) =>
  ctx.db.insert(healthTransitions).values({ vmId: idOf(place), at: at(time), kind: 'health', from, to, ...more });

type Act = Partial<typeof auditEntries.$inferInsert>;
async function acted(place: number, time: string, more: Act = {}): Promise<void> {
  await ctx.db.insert(auditEntries).values({
    ...{ at: at(time), actorKind: 'user', actorId: 'ada', actorName: 'Ada', action: 'extension.set' },
    ...{ targetKind: 'extension', targetId: 'probe', vmId: idOf(place), requestId: 'r', details: {} },
    ...more,
  });
}

const line = (item: FeedItem): string => {
  const time = item.at.toISOString().slice(11, 19);
  if (item.type === 'event') {
    const { kind, vms: count, vm, extension } = item.event;
    return [time, kind, vm?.name ?? count, extension].filter((part) => part !== null).join(' ');
  }
  const { actor, action } = item.act;
  return [time, actor.name, action, ...(item.fold ? [`x${item.fold.actions} on ${item.fold.vms}`] : [])].join(' ');
};
const feed = async (input: Parameters<typeof listFeed>[1] = {}) => (await listFeed(ctx, input)).items.map(line);

/** Returns all lines, read page by page. */
async function pages(limit: number): Promise<string[]> {
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listFeed(ctx, { limit, ...(cursor !== undefined && { cursor }) });
    lines.push(...page.items.map(line));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return lines;
}

describe('events of VMs', () => {
  test('are failures, silence, recoveries and returns; other changes of health are not events', async () => {
    await became(0, '01:00:00', 'healthy', 'progressing');
    await became(0, '01:01:00', 'progressing', 'failed');
    await became(0, '01:02:00', 'failed', 'progressing');
    await became(0, '01:03:00', 'progressing', 'healthy');
    await became(1, '01:04:00', 'healthy', 'unresponsive');
    await became(1, '01:05:00', 'unresponsive', 'healthy');
    await became(2, '01:06:00', 'healthy', 'progressing');
    await became(2, '01:07:00', 'progressing', 'healthy');
    await became(3, '01:08:00', null, 'healthy');
    await became(4, '01:09:00', 'healthy', 'failed', { extension: 'mount' });
    await became(5, '01:10:00', 'ready', 'unresponsive', { kind: 'heartbeat' });
    await became(29, '01:11:00', 'healthy', 'failed');
    expect(await feed()).toEqual([
      '01:05:00 back vm-1',
      '01:04:00 silent vm-1',
      '01:03:00 recovered vm-0',
      '01:01:00 failed vm-0',
    ]);
  });

  test('of one kind within a minute are one item, whose list of VMs has exactly these', async () => {
    for (let place = 0; place < 14; place += 1) await became(place, `03:12:${10 + place}`, 'healthy', 'unresponsive');
    await became(20, '03:12:30', 'healthy', 'failed');
    await became(21, '03:13:00', 'healthy', 'unresponsive');
    expect(await feed()).toEqual(['03:13:00 silent vm-21', '03:12:30 failed vm-20', '03:12:23 silent 14']);
    const matching = async (event: string) => (await countFleet(ctx, { event })).matching;
    expect(await matching('silent:2026-03-04T03:12Z')).toBe(14);
    expect(await matching('failed:2026-03-04T03:12Z')).toBe(1);
    expect(await matching('back:2026-03-04T03:12Z')).toBe(0);
    expect(await matching('silent:2026-02-30T03:12Z')).toBe(0);
    await expect(countFleet(ctx, { event: 'silent:yesterday' })).rejects.toMatchObject({ code: 'invalid' });
  });

  test('of one VM name the extension that failed', async () => {
    await became(0, '01:00:01', 'healthy', 'failed', { extension: 'mount', cause: 'exit' });
    await became(0, '01:00:01', 'healthy', 'failed');
    expect(await feed()).toEqual(['01:00:01 failed vm-0 mount']);
  });
});

describe('similar actions', () => {
  test('of one actor within ten minutes are one item', async () => {
    for (let place = 0; place < 12; place += 1) await acted(place, `02:0${Math.floor(place / 2)}:00`);
    await acted(0, '02:16:00');
    await acted(0, '01:00:00', { actorId: 'bob', actorName: 'Bob' });
    await acted(0, '00:59:00');
    await acted(0, '00:58:00', { action: 'extension.remove' });
    expect(await feed()).toEqual([
      '02:16:00 Ada extension.set',
      '02:05:00 Ada extension.set x12 on 12',
      '01:00:00 Bob extension.set',
      '00:59:00 Ada extension.set',
      '00:58:00 Ada extension.remove',
    ]);
  });

  test('on one target name what the newest of them changed', async () => {
    const operator = await testContext({ services: ctx, role: 'operator', now });
    const tags = (env: string) => ({ tags: { env } });
    const update = { action: 'vm.update', targetKind: 'vm', targetId: idOf(0) } as const;
    await acted(0, '02:00:00', { ...update, before: tags('prod'), after: tags('lab') });
    await acted(0, '02:01:00', { ...update, before: tags('lab'), after: tags('test') });
    const [item] = (await listFeed(operator, {})).items;
    expect(item?.type === 'action' && item.act.changes?.items).toMatchObject([{ kind: 'tag', name: 'env' }]);
    await acted(1, '02:02:00', { ...update, targetId: idOf(1), before: tags('prod'), after: tags('lab') });
    const [more] = (await listFeed(operator, {})).items;
    expect(more?.type === 'action' && more.act.changes).toBeNull();
  });

  test('before and after the last visit are two items', async () => {
    await acted(0, '02:00:00');
    await acted(1, '02:01:00');
    await acted(2, '02:02:00');
    expect(await feed({ mark: at('02:01:00').toISOString() })).toEqual([
      '02:02:00 Ada extension.set',
      '02:01:00 Ada extension.set x2 on 2',
    ]);
  });

  test('are counted whole, even if they are more than one statement reads', async () => {
    const many = Array.from({ length: 700 }, (_, place) =>
      acted(place % 28, `02:00:${String(place % 60).padStart(2, '0')}`),
    );
    await Promise.all(many);
    await acted(0, '01:00:00', { action: 'extension.remove' });
    expect(await pages(1)).toEqual(['02:00:59 Ada extension.set x700 on 28', '01:00:00 Ada extension.remove']);
  });
});

test('pages of any size yield the same lines, in order, each once', async () => {
  for (let place = 0; place < 28; place += 1) {
    await became(place, `0${place % 7}:1${place % 3}:${10 + place}`, 'healthy', place % 2 ? 'failed' : 'unresponsive');
    await acted(place, `0${place % 5}:1${place % 4}:${20 + place}`, {
      actorId: `a${place % 3}`,
      actorName: `A${place % 3}`,
    });
  }
  const all = await pages(200);
  expect(all.length).toBeGreaterThan(30);
  for (const limit of [1, 2, 3, 7]) expect(await pages(limit)).toEqual(all);
  await expect(listFeed(ctx, { cursor: 'eA' })).rejects.toMatchObject({ code: 'cursor_invalid' });
});

test('shows only people, only the fleet, or what matches a filter', async () => {
  await became(0, '01:00:00', 'healthy', 'failed');
  await acted(0, '02:00:00');
  await acted(0, '03:00:00', { actorKind: 'agent', actorName: 'agent', action: 'agent.enroll', targetKind: 'vm' });
  await acted(0, '04:00:00', { action: 'version.publish', targetKind: 'version', targetId: 'A.B-1.0', vmId: null });
  const times = async (input: Parameters<typeof listFeed>[1]) =>
    (await feed(input)).map((text) => text.slice(0, 2)).join();
  expect(await times({})).toBe('04,03,02,01');
  expect(await times({ kind: 'people' })).toBe('04,02');
  expect(await times({ kind: 'fleet' })).toBe('04,03,01');
  expect(await times({ actor: 'user' })).toBe('04,02');
  expect(await times({ vmId: idOf(0) })).toBe('03,02,01');
  expect(await times({ vmId: idOf(1) })).toBe('');
  expect(await times({ q: 'Vm-0' })).toBe('03,02,01');
  expect(await times({ from: at('01:30:00').toISOString(), to: at('04:00:00').toISOString() })).toBe('03,02');
});

test('new actions and events are counted, and a list can end at the last known entry', async () => {
  await became(0, '01:00:00', 'healthy', 'failed');
  await acted(0, '02:00:00');
  const { newest, newestEvent } = await listFeed(ctx, {});
  const newer = () => countNewerActs(ctx, { after: newest, afterEvent: newestEvent });
  expect(await newer()).toEqual({ count: 0, atLeast: false, newest, newestEvent });
  await became(1, '01:00:30', 'healthy', 'failed');
  await acted(1, '03:00:00');
  const found = await newer();
  expect(found).toMatchObject({ count: 2, atLeast: false });
  expect(found.newest).toBeGreaterThan(newest);
  expect(found.newestEvent).toBeGreaterThan(newestEvent);
  expect(await feed({ upTo: newest, upToEvent: newestEvent })).toEqual([
    '02:00:00 Ada extension.set',
    '01:00:00 failed vm-0',
  ]);
  expect(await countNewerActs(ctx, { after: newest })).toMatchObject({ count: 1 });
});

test('ranges are counted up to 1,000', async () => {
  await acted(0, '02:00:00');
  await became(0, '01:00:00', 'healthy', 'failed');
  await became(0, '01:05:00', 'failed', 'progressing');
  const ranges = [
    { from: at('00:00:00').toISOString() },
    { from: at('01:30:00').toISOString(), to: at('02:00:00').toISOString() },
  ];
  expect((await getActivityCounts(ctx, { ranges })).counts).toEqual([
    { count: 2, atLeast: false },
    { count: 0, atLeast: false },
  ]);
  await ctx.db.insert(healthTransitions).values(
    Array.from({ length: 1_200 }, (_, n) => ({
      vmId: idOf(n % 20),
      at: at('05:00:00'),
      kind: 'health' as const,
      from: 'healthy',
      to: 'failed',
    })),
  );
  expect((await getActivityCounts(ctx, { ranges })).counts[0]).toEqual({ count: 1_000, atLeast: true });
});

longTest('100,000 events take few statements and little time', async () => {
  await ctx.db.execute(`insert into health_transitions (at, vm_id, kind, "from", "to")
    select '2026-03-04T12:00:00Z'::timestamptz - n * interval '1 second',
      ('00000000-0000-4000-8000-' || lpad((n % 28)::text, 12, '0'))::uuid, 'health', 'healthy', 'failed'
    from generate_series(1, 100000) n`);
  await ctx.db.execute('analyze health_transitions');
  const started = performance.now();
  expect((await listFeed(ctx, { limit: 50 })).items).toHaveLength(50);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('the last visit is that of the caller; a token has none', async () => {
  const previousSeenAt = at('01:00:00');
  await ctx.db
    .insert(users)
    .values({ id: ctx.actor.id, name: 'V', email: 'v@example.org', role: 'viewer', previousSeenAt });
  expect(await getLastVisit(ctx)).toEqual({ at: previousSeenAt });
  expect(await getLastVisit({ ...ctx, actor: { ...ctx.actor, kind: 'token' } })).toEqual({ at: null });
  expect(await getLastVisit({ ...ctx, actor: { ...ctx.actor, id: 'other' } })).toEqual({ at: null });
});
