import { beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { countFleet } from './count-fleet.ts';
import { coreFields, type FleetFilter } from './fields.ts';
import { listFleetFacets } from './list-facets.ts';
import { type GivenRow, insertFleet } from './testing/insert-fleet.ts';

const now = new Date('2026-03-01T12:00:00Z');

let ctx: Context;

const times = (count: number, row: (n: number) => Omit<GivenRow, 'name'>): Omit<GivenRow, 'name'>[] =>
  Array.from({ length: count }, (_, n) => row(n));

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
  const rows = [
    // Tag `nine` has more values than a menu shows, and tag `eight` has exactly as many values as a menu shows.
    ...times(10, (n) => ({ tags: { nine: `v${Math.min(n, 8)}`, eight: `v${n % 8}` } })),
    ...times(3, () => ({ tags: { nine: 'V8', Size_100: '50%' }, health: 'failed' as const })),
    ...times(2, (n) => ({ tags: { [`z${n}`]: '' } })),
    { health: null, tags: { unevaluated: 'x' } },
    ...times(4, (n) => ({
      health: n === 0 ? ('failed' as const) : ('healthy' as const),
      extensions: [
        { name: 'probe', version: n < 3 ? '2.0.0.0' : '1.0.0.0', ...(n < 2 && { messageId: 'Disk_full' }) },
        { name: 'mount', handler: 'Acme.Lab.Mount', messageId: n < 2 ? 'DiskXfull' : 'Done' },
        // A second extension of the same handler, with the same message as the first.
        ...(n === 2 ? [{ name: 'mount-2', handler: 'Acme.Lab.Mount', messageId: 'Done' }] : []),
      ],
    })),
  ];
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Mount', version: '1.0.0.0', supportsMultipleExtensions: true });
  await insertFleet(
    ctx.db,
    now,
    rows.map((row, n) => ({ name: `vm-${n}`, ...row })),
  );
});

/** Returns names with their counts, as `name×count`. */
async function offered(facet: string, filter: FleetFilter = {}, part?: string): Promise<string[]> {
  const { items } = await listFleetFacets(ctx, { ...filter, facet, ...(part !== undefined && { part }) });
  return items.map(({ name, count }) => `${name}×${count}`);
}

test('tags: the most frequent first, then by name', async () => {
  expect(await offered('tag')).toEqual(['nine×13', 'eight×10', 'Size_100×3', 'z0×1', 'z1×1']);
});

test('values: the most frequent first, then by value; eight at most, and `more` if there are further values', async () => {
  const { items } = await listFleetFacets(ctx, { facet: 'tag' });
  const [nine, eight] = items;
  expect(nine?.values.map(({ value, count }) => `${value}×${count}`)).toEqual([
    'V8×3',
    'v8×2',
    'v0×1',
    'v1×1',
    'v2×1',
    'v3×1',
    'v4×1',
    'v5×1',
  ]);
  expect(nine?.more).toBe(true);
  expect(eight?.values).toHaveLength(8);
  expect(eight?.more).toBe(false);
});

test.each<[string, string, string[]]>([
  ['a part of a name, with all its values', 'nin', ['nine×13']],
  ['a part of a name in another case', 'NINE', ['nine×13']],
  ['a value in any case, and only it', 'v8', ['nine×5']],
  ['a percent sign', '%', ['Size_100×3']],
  ['an underscore', '_', ['Size_100×3']],
  ['a text that nothing contains', 'nowhere', []],
  ['an empty text, which finds all', '', ['nine×13', 'eight×10', 'Size_100×3', 'z0×1', 'z1×1']],
])('a search in tags finds %s', async (_, part, expected) => {
  expect(await offered('tag', {}, part)).toEqual(expected);
});

test('a search finds a value that the menu omits', async () => {
  const { items } = await listFleetFacets(ctx, { facet: 'tag', part: 'v7' });
  expect(items).toEqual([
    { name: 'eight', count: 1, values: [{ value: 'v7', count: 1 }], more: false },
    { name: 'nine', count: 1, values: [{ value: 'v7', count: 1 }], more: false },
  ]);
});

test.each<[string, FleetFilter, string[]]>([
  ['health', { health: ['failed'] }, ['Size_100×3', 'nine×3']],
  ['a tag', { tags: [{ name: 'eight', value: 'v1' }] }, ['eight×2', 'nine×2']],
  ['a handler', { handler: 'Acme.Lab.Probe' }, []],
  ['a name', { q: 'vm-14' }, ['z1×1']],
  ['nothing that matches', { health: ['degraded'] }, []],
])('tags are counted among the VMs that match: %s', async (_, filter, expected) => {
  expect(await offered('tag', filter)).toEqual(expected);
});

test('handlers: VMs by handler, with their goal versions', async () => {
  const { items, more } = await listFleetFacets(ctx, { facet: 'handler' });
  expect(items).toEqual([
    { name: 'Acme.Lab.Mount', count: 4, values: [{ value: '1.0.0.0', count: 4 }], more: false },
    {
      name: 'Acme.Lab.Probe',
      count: 4,
      values: [
        { value: '2.0.0.0', count: 3 },
        { value: '1.0.0.0', count: 1 },
      ],
      more: false,
    },
  ]);
  expect(more).toBe(false);
  expect(await offered('handler', { health: ['failed'] })).toEqual(['Acme.Lab.Mount×1', 'Acme.Lab.Probe×1']);
  expect(await offered('handler', {}, '2.0')).toEqual(['Acme.Lab.Probe×3']);
});

test('message ids: those that extensions show, without values', async () => {
  const { items } = await listFleetFacets(ctx, { facet: 'messageId' });
  expect(items).toEqual([
    { name: 'DiskXfull', count: 2, values: [], more: false },
    { name: 'Disk_full', count: 2, values: [], more: false },
    { name: 'Done', count: 2, values: [], more: false },
  ]);
  expect(await offered('messageId', { health: ['failed'] })).toEqual(['DiskXfull×1', 'Disk_full×1']);
  expect(await offered('messageId', {}, 'k_f')).toEqual(['Disk_full×2']);
});

test.each<FleetFilter>([
  {},
  { health: ['failed'] },
  { handler: 'Acme.Lab.Mount' },
  { messageId: 'Done' },
  { notHandler: 'Acme.Lab.Mount' },
])('a menu counts the VMs that the list shows for each of its values: %j', async (filter) => {
  for (const field of coreFields as FleetFields) {
    if (field.facet === undefined || field.name in filter) continue;
    for (const { name, count } of (await listFleetFacets(ctx, { ...filter, facet: field.parameter })).items) {
      const value = field.value.kind === 'words' ? [name] : field.value.kind === 'tags' ? [{ name }] : name;
      const { matching } = await countFleet(ctx, { ...filter, [field.name]: value });
      expect([field.name, name, count]).toEqual([field.name, name, matching]);
    }
  }
});

test('a menu has twelve names at most, and says that there are more', async () => {
  const many = await testContext({ role: 'viewer', now });
  const named = (count: number) => Object.fromEntries(times(count, () => ({})).map((_, n) => [`t${10 + n}`, 'x']));
  await insertFleet(many.db, now, [
    { name: 'twelve', tags: named(12) },
    { name: 'thirteen', health: 'failed', tags: named(13) },
  ]);
  const twelve = await listFleetFacets(many, { facet: 'tag', health: ['healthy'] });
  expect([twelve.items.length, twelve.more]).toEqual([12, false]);
  const thirteen = await listFleetFacets(many, { facet: 'tag', health: ['failed'] });
  expect([thirteen.items.length, thirteen.more]).toEqual([12, true]);
  const all = await listFleetFacets(many, { facet: 'tag' });
  expect(all.items.every(({ count }) => count === 2)).toBe(true);
  expect((await listFleetFacets(many, { facet: 'tag', part: 't22' })).items).toHaveLength(1);
});

test.each([
  [{}, '/facet', 'field_missing'],
  [{ facet: 'q' }, '/facet', 'field_choice'],
  [{ facet: 'tags' }, '/facet', 'field_choice'],
  [{ facet: 'tag', part: 'x'.repeat(201) }, '/part', 'field_too_long'],
  [{ facet: 'tag', part: 7 }, '/part', 'field_not_text'],
  [{ facet: 'tag', health: ['ill'] }, '/health/0', 'field_choice'],
  [{ facet: 'handler', version: 'x' }, '/version', 'version_filter_form'],
])('rejects %j at %s with %s', async (input, path, code) => {
  await expect(listFleetFacets(ctx, input as { facet: string })).rejects.toMatchObject({
    kind: 'unprocessable',
    code: 'invalid',
    faults: [expect.objectContaining({ path, code })],
  });
});
