import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { extensionHealth, healthTransitions, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { countFleet, type FleetFilter } from '#server/domain/fleet/index.ts';
import { type GivenRow, idOf, insertFleet } from '#server/domain/fleet/testing/insert-fleet.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { testContext } from '#server/testing/context.ts';
import { listEventGroups } from '../activity/event-groups.ts';
import {
  getFleetSummary,
  getMapCell,
  listDeadlines,
  listFailingTogether,
  listFleetEvents,
  listHealthChanges,
} from './index.ts';

const now = new Date('2026-03-04T12:00:00Z');
const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
const hour = 3_600;
const day = 24 * hour;

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
});
beforeEach(async () => {
  for (const table of [extensionHealth, healthTransitions, vmHealth, vms]) await ctx.db.delete(table);
});

/** Returns a context without cached data, as for a page that is opened later. */
const fresh = (): Context => ({ ...ctx, memory: new ProcessMemory() });
const insert = (rows: readonly GivenRow[]) => insertFleet(ctx.db, now, rows);
const names = (count: number): GivenRow[] => Array.from({ length: count }, (_, n) => ({ name: `vm-${n}` }));

type Transition = typeof healthTransitions.$inferInsert;
const became = (place: number, seconds: number, to: string | null, more: Partial<Transition> = {}) =>
  ctx.db
    .insert(healthTransitions)
    .values({ vmId: idOf(place), at: ago(seconds), kind: 'health', from: 'healthy', to, ...more });

type Failure = Partial<typeof extensionHealth.$inferInsert>;
const fails = (place: number, more: Failure = {}) =>
  ctx.db.insert(extensionHealth).values({
    ...{ vmId: idOf(place), name: 'mount', handler: 'Acme.Lab.Mount', goalVersion: '1.0.0.0', version: '1.0.0.0' },
    ...{ health: 'failed', heartbeat: 'none', cause: 'exit', command: 'enable', exitCode: 51, since: ago(60) },
    ...more,
  });

describe('events of the last day', () => {
  const events = async () =>
    (await listFleetEvents(fresh())).map(
      ({ health, vms, at }) => `${vms} ${health} ${(now.getTime() - Date.parse(at)) / 1000}`,
    );

  test.each<[string, [place: number, seconds: number, to: string][], string[]]>([
    ['nothing', [], []],
    [
      'within a minute are one event, with the time of the last one',
      [
        [0, 60, 'failed'],
        [1, 1, 'failed'],
      ],
      ['2 failed 1'],
    ],
    [
      'in two minutes are two',
      [
        [0, 61, 'failed'],
        [1, 60, 'failed'],
      ],
      ['1 failed 60', '1 failed 61'],
    ],
    [
      'minutes apart are separate events',
      [
        [0, 500, 'failed'],
        [1, 330, 'failed'],
        [2, 160, 'failed'],
      ],
      ['1 failed 160', '1 failed 330', '1 failed 500'],
    ],
    [
      'failures and silence are two events',
      [
        [0, 9, 'failed'],
        [1, 8, 'unresponsive'],
      ],
      ['1 unresponsive 8', '1 failed 9'],
    ],
    [
      'a VM that failed twice in an event counts once',
      [
        [0, 50, 'failed'],
        [0, 10, 'failed'],
      ],
      ['1 failed 10'],
    ],
    [
      'recoveries and starts are none',
      [
        [0, 9, 'healthy'],
        [1, 9, 'progressing'],
        [2, 9, 'degraded'],
      ],
      [],
    ],
    ['the last second of the day counts', [[0, day - 1, 'failed']], [`1 failed ${day - 1}`]],
    ['a day ago does not', [[0, day, 'failed']], []],
  ])('%s', async (_, transitions, expected) => {
    await insert(names(3));
    for (const [place, seconds, to] of transitions) await became(place, seconds, to);
    expect(await events()).toEqual(expected);
  });

  test('are the eight newest', async () => {
    await insert(names(9));
    for (let place = 0; place < 9; place += 1) await became(place, place * 200, 'failed');
    expect(await events()).toEqual(Array.from({ length: 8 }, (_, place) => `1 failed ${place * 200}`));
  });

  test('are not changes of extensions, of heartbeats, or of deleted VMs', async () => {
    await insert([{ name: 'vm' }, { name: 'gone', isDeleted: true, health: null }]);
    await became(0, 5, 'failed', { extension: 'mount' });
    await became(0, 5, 'unresponsive', { kind: 'heartbeat' });
    await became(1, 5, 'failed');
    expect(await events()).toEqual([]);
  });

  test('group as the Activity page does, and each number opens exactly its VMs', async () => {
    await insert(names(6));
    for (const [place, seconds] of [130, 121, 100, 70, 65, 20].entries()) await became(place, seconds, 'failed');
    await became(1, 110, 'unresponsive');
    const shown = await listFleetEvents(fresh());
    const onActivityPage = await listEventGroups(ctx, {}, undefined, 20);
    const lineOf = (vms: number, at: string | Date): string => `${vms} ${new Date(at).toISOString()}`;
    expect(shown.map(({ vms, at }) => lineOf(vms, at))).toEqual(onActivityPage.map(({ vms, at }) => lineOf(vms, at)));
    for (const { filter, vms } of shown) expect((await countFleet(ctx, { event: filter })).matching).toBe(vms);
  });

  test('keep their id while more VMs join', async () => {
    await insert(names(2));
    await became(0, 60, 'failed');
    const [first] = await listFleetEvents(fresh());
    await became(1, 30, 'failed');
    const [second] = await listFleetEvents(fresh());
    expect(second).toMatchObject({ id: first?.id, vms: 2, vm: null, extension: null });
  });

  test('of one VM name what failed last, and nothing if the VM works again', async () => {
    await insert(names(2));
    await became(0, 60, 'failed');
    await became(1, 600, 'failed');
    await fails(0, { name: 'earlier', since: ago(500), exitCode: 1 });
    await fails(0, { name: 'later', since: ago(70), cause: 'timeout', exitCode: null });
    expect(await listFleetEvents(fresh())).toMatchObject([
      { vm: { id: idOf(0), name: 'vm-0' }, extension: { name: 'later', cause: 'timeout', exitCode: null } },
      { vm: { id: idOf(1) }, extension: null },
    ]);
  });
});

describe('VMs that fail together', () => {
  const groups = async () => (await listFailingTogether(fresh())).map(({ vms, health }) => `${vms} ${health}`);

  test.each<[string, Failure, Failure, number]>([
    ['one cause', {}, {}, 1],
    ['another name and version', {}, { name: 'disk', version: '2.0.0.0' }, 1],
    ['another time', {}, { since: ago(9_000) }, 1],
    ['another message, which is not the cause', { messageId: 'a' }, { messageId: 'b' }, 1],
    ['another handler', {}, { handler: 'Acme.Lab.Other' }, 2],
    ['another exit code', {}, { exitCode: 1 }, 2],
    ['another command', {}, { command: 'install' }, 2],
    ['another cause', {}, { cause: 'timeout', exitCode: null }, 2],
    ['degraded beside failed', {}, { health: 'degraded' }, 2],
    ['another message as the cause', { cause: 'status', messageId: 'a' }, { cause: 'status', messageId: 'b' }, 2],
  ])('%s', async (_, first, second, expected) => {
    await insert(names(2));
    await fails(0, first);
    await fails(1, second);
    expect(await groups()).toHaveLength(expected);
  });

  test.each<Failure>([
    { cause: null, health: 'healthy' },
    { cause: 'waiting', health: 'progressing' },
    { cause: 'waiting', health: 'failed' },
    { cause: 'silent', health: 'unresponsive' },
    { cause: 'stale', health: 'progressing' },
  ])('%j is in no group', async (failure) => {
    await insert(names(1));
    await fails(0, failure);
    expect(await groups()).toEqual([]);
  });

  test('a VM with two failed extensions of a handler counts once', async () => {
    await insert(names(1));
    await fails(0, { name: 'a' });
    await fails(0, { name: 'b' });
    expect(await listFailingTogether(fresh())).toMatchObject([{ vms: 1, extension: { name: null } }]);
  });

  test('versions are in version order, newest last; of more than five, the newest are listed', async () => {
    await insert(names(7));
    const versions = ['1.10.0.0', '1.9.0.0', '1.2.0.0', '2.0.0.0', '1.1.0.0', '10.0.0.0'];
    for (const [place, version] of versions.entries()) await fails(place, { version });
    await fails(6, { name: 'odd', version: 'not a version' });
    // Before its first report, an extension counts with the version in the goal.
    await fails(6, { version: null, goalVersion: '3.0.0.0' });
    const [group] = await listFailingTogether(fresh());
    expect(group?.extension?.versions).toEqual(['1.9.0.0', '1.10.0.0', '2.0.0.0', '3.0.0.0', '10.0.0.0']);
  });

  test('groups of several VMs come first, the largest first, then the worst and the latest; six at most', async () => {
    await insert(names(12));
    const given: [codes: number, health: 'failed' | 'degraded', count: number, since: number][] = [
      [1, 'failed', 1, 900],
      [2, 'degraded', 1, 10],
      [3, 'degraded', 3, 99],
      [4, 'failed', 2, 99],
      [5, 'failed', 1, 100],
      [6, 'degraded', 2, 99],
      [7, 'degraded', 1, 990],
    ];
    let place = 0;
    for (const [exitCode, health, count, since] of given) {
      for (let n = 0; n < count; n += 1) await fails(place++, { exitCode, health, since: ago(since) });
    }
    const found = await listFailingTogether(fresh());
    expect(found.map(({ extension }) => extension?.exitCode)).toEqual([3, 4, 6, 5, 1, 2]);
  });

  test.each<[string, number[], string[]]>([
    [
      'three that are 60 seconds apart became unresponsive together',
      [300, 360, 420, 900],
      ['3 unresponsive', '1 unresponsive'],
    ],
    ['three that are 61 seconds apart did not', [300, 361, 422, 900], ['4 unresponsive']],
    ['two that are a second apart did not', [300, 301, 900], ['3 unresponsive']],
    ['a chain of neighbors did', [300, 350, 400, 450], ['4 unresponsive']],
  ])('%s', async (_, seconds, expected) => {
    await insert(
      seconds.map((each) => ({ name: `vm-${each}`, health: 'unresponsive', since: ago(each).toISOString() })),
    );
    expect(await groups()).toEqual(expected);
  });
});

describe('changes of the hour', () => {
  test('the first bar begins 24 bars back, and changes before it are omitted', async () => {
    await insert(names(2));
    const { bars, barSeconds } = await listHealthChanges(fresh());
    const first = bars[0]?.from ?? '';
    expect([bars.length, barSeconds, first]).toEqual([24, 150, new Date(now.getTime() - 23 * 150_000).toISOString()]);
    const begin = (now.getTime() - Date.parse(first)) / 1000;
    await became(0, begin, 'failed');
    await became(1, begin + 0.001, 'failed');
    const changes = await listHealthChanges(fresh());
    expect([changes.vms, changes.totals.failed, changes.bars[0]?.failed]).toEqual([1, 1, 1]);
  });

  test('a change of this moment is in the last bar', async () => {
    await insert(names(1));
    await became(0, 0, 'degraded');
    expect((await listHealthChanges(fresh())).bars.at(-1)).toMatchObject({ degraded: 1 });
  });

  test('first evaluations, deletions and unknown health do not count as changes', async () => {
    await insert(names(3));
    await became(0, 9, 'failed', { from: null });
    await became(1, 9, null);
    await became(2, 9, 'unknown');
    const { vms, totals } = await listHealthChanges(fresh());
    expect(totals).toEqual({ healthy: 0, started: 0, degraded: 0, failed: 0, silent: 0 });
    expect(vms).toBe(2);
  });

  test('a VM that changes often counts once in each total and in each bar', async () => {
    await insert(names(1));
    for (const [at, to] of [
      [400, 'failed'],
      [300, 'healthy'],
      [10, 'failed'],
    ] as const) {
      await became(0, at, to);
    }
    const { vms, totals, bars } = await listHealthChanges(fresh());
    expect([vms, totals.failed, totals.healthy]).toEqual([1, 1, 1]);
    expect(bars.reduce((sum, { failed }) => sum + failed, 0)).toBe(2);
  });

  test('every bar counts the VMs that the list shows for its time', async () => {
    await insert(names(4));
    for (const [vm, at, to] of [
      [0, 400, 'failed'],
      [0, 390, 'healthy'],
      [1, 395, 'degraded'],
      [2, 150, 'unknown'],
      [3, 0, 'failed'],
    ] as const) {
      await became(vm, at, to);
    }
    const { bars, vms } = await listHealthChanges(fresh());
    expect(vms).toBe(4);
    for (const { from, until, vms: counted } of bars) {
      const { matching } = await countFleet(ctx, { changedAfter: from, changedBefore: until });
      expect([from, counted]).toEqual([from, matching]);
    }
    expect(bars.map((bar) => bar.vms).filter((count) => count > 0)).toHaveLength(3);
  });

  test('the summary counts VMs that got a health within the hour, including new VMs, and VMs that lost it', async () => {
    await insert([
      { name: 'new', health: 'failed', since: ago(9).toISOString() },
      { name: 'old', health: 'failed', since: ago(hour * 2).toISOString() },
      { name: 'back', health: 'degraded', since: ago(9).toISOString() },
      { name: 'well', health: 'healthy', since: ago(9).toISOString() },
    ]);
    await became(0, 9, 'failed', { from: null });
    await became(2, 60, 'failed', { from: 'degraded' });
    await became(2, 9, 'degraded', { from: 'failed' });
    await became(3, 9, 'healthy', { from: 'degraded' });
    const { counts, since } = await getFleetSummary(fresh());
    const moved = Object.fromEntries(counts.map(({ health, came, gone }) => [health, [came, gone]]));
    expect(moved).toMatchObject({ failed: [1, 1], degraded: [1, 1], healthy: [1, 0] });
    const matching = async (filter: FleetFilter) => (await countFleet(ctx, filter)).matching;
    for (const { health, came, gone } of counts) {
      expect(await matching({ health: [health], sinceAfter: since })).toBe(came);
      const others = vmHealths.filter((other) => other !== health);
      expect(await matching({ health: others, left: [health], changedAfter: since })).toBe(gone);
    }
  });
});

describe('deadlines', () => {
  test('a deadline that ends now has passed, and a deadline a moment later is next', async () => {
    await insert(names(2));
    await fails(0, { deadlineAt: now });
    await fails(1, { deadlineAt: new Date(now.getTime() + 1), health: 'progressing', cause: null });
    expect(await listDeadlines(ctx)).toMatchObject({ past: 1, overdue: [{ vm: 'vm-0' }], next: { vm: 'vm-1' } });
  });

  test('all missed deadlines are counted, and the three that are overdue longest are listed', async () => {
    await insert(names(5));
    for (const place of [3, 1, 4, 0, 2]) await fails(place, { deadlineAt: ago(100 - place) });
    const { past, overdue, next } = await listDeadlines(ctx);
    expect([past, overdue.map(({ vm }) => vm), next]).toEqual([5, ['vm-0', 'vm-1', 'vm-2'], null]);
  });

  test('a VM with several missed deadlines is listed once, with the extension that is overdue longest', async () => {
    await insert(names(2));
    await fails(0, { deadlineAt: ago(30) });
    await fails(0, { name: 'metrics', deadlineAt: ago(50) });
    await fails(1, { deadlineAt: ago(40) });
    const { past, overdue } = await listDeadlines(ctx);
    expect([past, overdue.map(({ vm, extension }) => `${vm} ${extension}`)]).toEqual([
      2,
      ['vm-0 metrics', 'vm-1 mount'],
    ]);
  });

  test('without deadlines there is nothing to show', async () => {
    expect(await listDeadlines(ctx)).toEqual({ past: 0, overdue: [], next: null });
  });
});

test.each([
  [{ groupBy: 'site' }, '/groupBy'],
  [{ groupBy: 'tag:' }, '/groupBy'],
  [{ groupBy: `tag:${'x'.repeat(257)}` }, '/groupBy'],
  [{ index: -1 }, '/index'],
  [{ group: 0.5 }, '/group'],
  [{ revision: 'x'.repeat(65) }, '/revision'],
])('a cell of the map with %j is rejected', async (more, path) => {
  const input = { groupBy: 'none', revision: 'r', group: 0, index: 0, ...more };
  await expect(getMapCell(ctx, input as Parameters<typeof getMapCell>[1])).rejects.toMatchObject({
    code: 'invalid',
    faults: [expect.objectContaining({ path })],
  });
});
