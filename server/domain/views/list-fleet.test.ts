import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentPresence, extensionHealth, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { countFleet, type FleetFilter, listFleetFacets, summarizeFleet } from '#server/domain/fleet/index.ts';
import { fleetSorts } from '#server/domain/fleet/input.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { testContext } from '#server/testing/context.ts';
import { exportFleet, listFleet, readFleetRows } from './index.ts';

const now = new Date('2026-03-01T12:00:00Z');
const handler = 'Acme.Lab.Probe';
const versions = ['2.4.0.0', '2.4.1.0', '2.3.9.0', '24.0.0.0'];
/** Tag values, some of which break statements without proper escaping. */
const sites = ['a', 'A', 'a"b', "a'b", 'a:b', 'a=b', 'ä ö 東京', '%', '_', '\\', '{"a":1}', ''];

let ctx: Context;
const all: {
  id: string;
  name: string;
  health: string;
  tags: Record<string, string>;
  since: number;
  message: string;
}[] = [];

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
  for (let index = 0; index < 240; index++) {
    const health = vmHealths[index % vmHealths.length] ?? 'unknown';
    all.push({
      id: `00000000-0000-4000-8000-${String(index * 7919).padStart(12, '0')}`,
      name: `vm_${(index * 37) % 240}${index % 5 === 0 ? '-Ä' : ''}`,
      health,
      tags: { site: sites[index % sites.length] ?? '', ...(index % 3 === 0 ? { 'odd=%name': 'x' } : {}) },
      // Many VMs share a time, so that sorting by time needs a second key.
      since: now.getTime() - (index % 4) * 60_000,
      message: `M${index % 8}`,
    });
  }
  await ctx.db
    .insert(vms)
    .values(all.map(({ id, name, tags }) => ({ id, name, tags, createdAt: now, createdBy: 'test' })));
  await ctx.db.insert(vmHealth).values(
    all.map(({ id, name, tags, health, since }) => ({
      vmId: id,
      name,
      tags,
      health: health as 'failed',
      rank: vmHealths.indexOf(health as 'failed'),
      agent: health === 'unresponsive' ? ('unresponsive' as const) : ('ready' as const),
      since: new Date(since),
    })),
  );
  await ctx.db.insert(extensionHealth).values(
    all.map(({ id, message }, index) => ({
      vmId: id,
      name: 'probe',
      handler,
      goalVersion: versions[index % versions.length] ?? '',
      health: 'healthy' as const,
      heartbeat: 'none' as const,
      messageId: message,
      since: now,
    })),
  );
  await ctx.db.insert(agentPresence).values(
    all.map(({ id }, index) => ({
      vmId: id,
      lastSeenAt: new Date(now.getTime() - (index % 2 === 0 ? 5 : 15) * 60_000),
      nextExpectedAt: now,
    })),
  );
  await checkCounts(ctx, now);
});

const version = (index: number): string => versions[index % versions.length] ?? '';

/** Filters, and the VMs that they select. */
const filters: readonly [string, FleetFilter, (vm: (typeof all)[number], index: number) => boolean][] = [
  ['nothing', {}, () => true],
  ['a part of a name in any case', { q: 'VM_1' }, ({ name }) => name.includes('vm_1')],
  ['letters beyond ASCII', { q: 'ä' }, ({ name }) => name.includes('Ä')],
  ['an underscore is an underscore', { q: '_' }, () => true],
  ['a percent sign stands for nothing', { q: '%' }, () => false],
  ['a backslash stands for nothing', { q: '\\' }, () => false],
  ['a quote ends nothing', { q: `' or '1'='1` }, () => false],
  ['a whole id', { q: '00000000-0000-4000-8000-000000007919' }, (_, index) => index === 1],
  ['one health', { health: ['failed'] }, ({ health }) => health === 'failed'],
  ['two healths', { health: ['healthy', 'unknown'] }, ({ health }) => /healthy|unknown/.test(health)],
  ['a tag by name', { tags: [{ name: 'odd=%name' }] }, ({ tags }) => 'odd=%name' in tags],
  ...sites.map((site): (typeof filters)[number] => [
    `a tag with the value ${JSON.stringify(site)}`,
    { tags: [{ name: 'site', value: site }] },
    ({ tags }) => tags.site === site,
  ]),
  [
    'two tags',
    {
      tags: [
        { name: 'odd=%name', value: 'x' },
        { name: 'site', value: 'a' },
      ],
    },
    ({ tags }) => tags['odd=%name'] === 'x' && tags.site === 'a',
  ],
  ['a handler', { handler }, () => true],
  ['another handler', { handler: 'Acme.Lab.Prob_' }, () => false],
  ['a version', { handler, version: '2.4.1.0' }, (_, index) => version(index) === '2.4.1.0'],
  ['a line of versions', { version: '2.4.*' }, (_, index) => version(index).startsWith('2.4.')],
  ['a line that is not the beginning of another', { version: '2.*' }, (_, index) => version(index).startsWith('2.')],
  ['a message id', { messageId: 'M3' }, ({ message }) => message === 'M3'],
  ['a message id that is a pattern', { messageId: 'M_' }, () => false],
  ['silence', { silentMinutes: 10 }, ({ health }, index) => health === 'unresponsive' && index % 2 === 1],
  [
    'all at once',
    { q: 'vm', health: ['healthy'], tags: [{ name: 'site' }], handler, version: '2.4.*', messageId: 'M5' },
    ({ health, message }, index) => health === 'healthy' && message === 'M5' && version(index).startsWith('2.4.'),
  ],
];

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

describe.each(filters)('%s', (_, filter, keeps) => {
  const expected = () => idsOf(all.filter(keeps)).toSorted();

  test.each(fleetSorts)('by %s: every VM once, page by page, and from any row', async (sort) => {
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await listFleet(ctx, { ...filter, sort, limit: 37, cursor });
      seen.push(...idsOf(page.items));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen.toSorted()).toEqual(expected());
    const middle = Math.floor(seen.length / 2);
    const { items } = await listFleet(ctx, { ...filter, sort, limit: 10, at: middle });
    expect(idsOf(items)).toEqual(seen.slice(middle, middle + 10));
    const opposite = sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
    const turned = await listFleet(ctx, { ...filter, sort: opposite as 'name', limit: 200 });
    expect(idsOf(turned.items)).toEqual(seen.toReversed().slice(0, 200));
  });

  test('counts the VMs that match', async () => {
    expect((await countFleet(ctx, filter)).matching).toBe(expected().length);
    for (const limit of [10, 200]) {
      expect((await listFleet(ctx, { ...filter, limit, counted: true })).matching).toBe(expected().length);
    }
  });
});

test('sorts the worst health and the latest change first', async () => {
  const worst = await listFleet(ctx, { sort: 'health', limit: 200 });
  const ranks = worst.items.map(({ id }) => vmHealths.indexOf(all.find((vm) => vm.id === id)?.health as 'failed'));
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  const latest = await listFleet(ctx, { sort: '-since', limit: 200 });
  const times = latest.items.map(({ since }) => Date.parse(since ?? ''));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test.each([
  ['a cursor of another order', { sort: 'health', of: 'name' }, 'cursor_other_order'],
  ['a cursor of the order from the other end', { sort: '-name', of: 'name' }, 'cursor_other_order'],
] as const)('%s is rejected', async (_, { sort, of }, code) => {
  const { nextCursor } = await listFleet(ctx, { sort: of, limit: 1 });
  await expect(listFleet(ctx, { sort, limit: 1, cursor: nextCursor ?? '' })).rejects.toMatchObject({ code });
});

test.each([
  ['!'],
  ['x'.repeat(900)],
  ...[
    ['health', '9999999999', 'a', 'b'],
    ['name', 'a', 'not-an-id'],
    ['since', '99999999999999999999', 'x'],
    ['name'],
    [7],
  ].map((keys) => [Buffer.from(JSON.stringify(keys)).toString('base64url')]),
])('a forged cursor (%s) is rejected', async (cursor) => {
  for (const sort of fleetSorts) {
    await expect(listFleet(ctx, { sort, cursor })).rejects.toMatchObject({ kind: 'bad_request' });
  }
});

test.each([
  [{ version: '2.*.1' }],
  [{ version: '*' }],
  [{ version: "2' or 1=1" }],
  [{ health: ['fine'] }],
  [{ tags: [{ name: '' }] }],
  [{ silentMinutes: 0 }],
])('%j is not a filter', async (filter) => {
  await expect(countFleet(ctx, filter as FleetFilter)).rejects.toMatchObject({ code: 'invalid' });
});

describe('in a large fleet', () => {
  let large: Context;
  /** Positions, in a list of 12,000 VMs by name, of the first VM that has each tag. */
  const first = { middle: 2_101, late: 2_501, last: 11_941 };
  const nameOf = (n: number): string => `vm-${String(n).padStart(5, '0')}`;

  beforeAll(async () => {
    large = await testContext({ role: 'viewer', now });
    await large.db.execute(sql`
      with made as (
        insert into vms (id, name, tags, created_at, created_by)
        select gen_random_uuid(), 'vm-' || lpad(n::text, 5, '0'), jsonb_strip_nulls(jsonb_build_object(
            'middle', case when n >= ${first.middle}::int then 'x' end, 'late', case when n >= ${first.late}::int then 'x' end,
            'last', case when n >= ${first.last}::int then 'x' end)), ${now.toISOString()}::timestamptz, 'test'
        from generate_series(1, 12000) n returning *
      )
      insert into vm_health (vm_id, name, tags, health, rank, agent, since)
      select id, name, tags, 'healthy', 5, 'ready', ${now.toISOString()}::timestamptz from made`);
    await large.db.execute(sql`analyze vm_health`);
  });

  test.each(Object.entries(first))('finds VMs far from the beginning of the order: %s', async (tag, from) => {
    for (const sort of ['name', 'health'] as const) {
      const filter = { tags: [{ name: tag, value: 'x' }], sort, limit: 30 };
      const page = await listFleet(large, filter);
      expect(page.items.map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, at) => nameOf(from + at)));
      const next = await listFleet(large, { ...filter, cursor: page.nextCursor ?? '' });
      expect(next.items[0]?.name).toBe(nameOf(from + 30));
    }
  });
});

test('reads rows again in the requested order, without deleted VMs', async () => {
  const [first, second] = idsOf(all);
  const { items, leftOut } = await readFleetRows(ctx, {
    vmIds: [second ?? '', '00000000-0000-4000-8000-00000000dead', first ?? ''],
  });
  expect(idsOf(items)).toEqual([second, first]);
  expect(leftOut).toBe(0);
});

test('counts VMs by health', async () => {
  const summary = await summarizeFleet(ctx);
  expect(summary.total).toBe(240);
  expect(summary.byHealth).toEqual(Object.fromEntries(vmHealths.map((health) => [health, 40])));
  expect(summary.silent).toBe((await countFleet(ctx, { silentMinutes: 10 })).matching);
});

describe('values to filter by', () => {
  test('lists tags with their most frequent values, limited, and searched by a part of a name or value', async () => {
    const { items, more } = await listFleetFacets(ctx, { facet: 'tag' });
    expect(items.map(({ name, count, more: others }) => [name, count, others])).toEqual([
      ['site', 240, true],
      ['odd=%name', 80, false],
    ]);
    expect(items[0]?.values).toHaveLength(8);
    expect(more).toBe(false);
    const found = await listFleetFacets(ctx, { facet: 'tag', part: '東京' });
    expect(found.items).toEqual([{ name: 'site', count: 20, values: [{ value: 'ä ö 東京', count: 20 }], more: false }]);
    expect((await listFleetFacets(ctx, { facet: 'tag', part: '%' })).items.map(({ name }) => name)).toEqual([
      'odd=%name',
      'site',
    ]);
  });

  test('lists handlers with versions, and message ids, of the VMs that match', async () => {
    const filter = { health: ['failed' as const] };
    const { items } = await listFleetFacets(ctx, { ...filter, facet: 'handler' });
    expect(items[0]).toMatchObject({ name: handler, count: 40 });
    for (const { value, count } of items[0]?.values ?? []) {
      expect((await countFleet(ctx, { ...filter, handler, version: value })).matching).toBe(count);
    }
    const messages = await listFleetFacets(ctx, { ...filter, facet: 'messageId' });
    for (const { name, count } of messages.items) {
      expect((await countFleet(ctx, { ...filter, messageId: name })).matching).toBe(count);
    }
  });
});

test('an export contains every VM that matches, and is recorded in the activity log', async () => {
  const names: string[] = [];
  for await (const page of await exportFleet(ctx, { version: '2.4.*' })) names.push(...page.map(({ name }) => name));
  expect(names).toHaveLength((await countFleet(ctx, { version: '2.4.*' })).matching);
  const acts = await ctx.db.query.auditEntries.findMany();
  expect(acts.at(-1)).toMatchObject({ action: 'fleet.export', details: { count: names.length } });
});

test('rejects callers who are not signed in', async () => {
  const signedOut = { ...ctx, actor: { ...ctx.actor, kind: 'anonymous' as const, role: null } };
  for (const ask of [listFleet, countFleet, exportFleet]) {
    await expect(ask(signedOut, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
  }
});
