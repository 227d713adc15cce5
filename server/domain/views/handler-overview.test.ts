import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensionHealth, resources, type VersionState, versionCounts, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { getAdoption } from './get-adoption.ts';
import { getHandlerOverview } from './get-handler-overview.ts';
import { listCatalogue } from './list-catalogue.ts';

const now = new Date('2026-05-20T10:30:00Z');
const hours = (before: number) => new Date(Date.parse('2026-05-20T10:00:00Z') - before * 3_600_000);
let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer', now });
});

const count = (handler: string, version: string, hour: Date, vms: number, failed = 0) =>
  ctx.db.insert(versionCounts).values({ handler, version, hour, vms, failed });

async function uses(handler: string, goalVersion: string, version: string | null, more: object = {}): Promise<void> {
  const vmId = randomUUID();
  await ctx.db.insert(vms).values({ id: vmId, name: vmId, tags: {}, createdAt: now, createdBy: 'test' });
  await ctx.db.insert(extensionHealth).values({
    ...{ vmId, name: 'x', handler, goalVersion, version, health: 'healthy', heartbeat: 'none', since: now },
    ...more,
  });
}

describe('the version that represents a handler', () => {
  test.each<[string, [version: string, state: VersionState][], string | null]>([
    [
      'the newest published',
      [
        ['1.0', 'published'],
        ['1.9', 'published'],
        ['1.10', 'published'],
      ],
      '1.10',
    ],
    [
      'a published one before a newer draft',
      [
        ['1.0', 'published'],
        ['2.0', 'draft'],
      ],
      '1.0',
    ],
    [
      'a published one before a newer withdrawn one',
      [
        ['1.0', 'published'],
        ['2.0', 'withdrawn'],
      ],
      '1.0',
    ],
    [
      'the newest draft without a published one',
      [
        ['1.0', 'draft'],
        ['2.0', 'draft'],
        ['3.0', 'withdrawn'],
      ],
      '2.0',
    ],
    [
      'the newest withdrawn one without others',
      [
        ['1.0', 'withdrawn'],
        ['2.0', 'withdrawn'],
      ],
      '2.0',
    ],
  ])('is %s', async (name, versions, expected) => {
    const handler = `Acme.Newest.${name.replaceAll(/[^a-z]/g, '')}`;
    for (const [version, state] of versions) await givenVersion(ctx.db, { handler, version, state });
    const { newest } = await getHandlerOverview(ctx, { handler });
    expect(newest?.version).toBe(expected);
  });

  test('says whether the handler sends heartbeats and can be used more than once, and which languages it has', async () => {
    const handler = 'Acme.Newest.Described';
    await givenVersion(ctx.db, { handler, reportHeartbeat: false, supportsMultipleExtensions: true });
    const about = { handler, version: '1.0.0.0', warnings: [], updatedAt: now, updatedBy: 'test' };
    await ctx.db.insert(resources).values([
      { ...about, lang: 'de', messages: { a: 'A' } },
      { ...about, lang: 'en', messages: { a: 'A', b: 'B' } },
    ]);
    const { newest } = await getHandlerOverview(ctx, { handler });
    expect(newest).toMatchObject({ reportHeartbeat: false, supportsMultipleExtensions: true });
    expect(newest?.languages.map(({ lang }) => lang).toSorted()).toEqual(['de', 'en']);
  });
});

test('VMs of a version are counted by goal and by report; without a report, by goal alone', async () => {
  const handler = 'Acme.Lab.Used';
  for (const version of ['1.0', '1.1']) await givenVersion(ctx.db, { handler, version });
  await uses(handler, '1.1', '1.0');
  await uses(handler, '1.1', '1.1', { health: 'failed' });
  await uses(handler, '1.1', null);
  const { vms: all, versions } = await getHandlerOverview(ctx, { handler });
  expect(all).toBe(3);
  expect(versions.map(({ version, vms: declared, running, failed }) => [version, declared, running, failed])).toEqual([
    ['1.1', 3, 1, 1],
    ['1.0', 0, 1, 0],
  ]);
});

test('failures have a value for each day with counts: today last, fourteen days in all', async () => {
  const handler = 'Acme.Lab.Days';
  await givenVersion(ctx.db, { handler, version: '1.0' });
  const midnight = new Date('2026-05-20T00:00:00Z');
  const first = new Date('2026-05-07T00:00:00Z');
  await count(handler, '1.0', midnight, 4, 1);
  await count(handler, '1.0', new Date(midnight.getTime() - 3_600_000), 2, 2);
  await count(handler, '1.0', first, 2, 1);
  await count(handler, '1.0', new Date(first.getTime() - 3_600_000), 1, 1);
  const { versions } = await getHandlerOverview(ctx, { handler });
  const failures = versions[0]?.failures ?? [];
  expect([failures.length, failures[0], failures[12], failures[13]]).toEqual([14, 0.5, 1, 0.25]);
  expect(failures.slice(1, 12).every((day) => day === null)).toBe(true);
});

describe('adoption', () => {
  test('of a range begins exactly its days ago', async () => {
    const handler = 'Acme.Lab.Edge';
    const exact = new Date(now.getTime() - 7 * 86_400_000);
    await count(handler, '1.0', exact, 1);
    await count(handler, '0.9', new Date(exact.getTime() - 1), 1);
    expect(await getAdoption(ctx, { handler, range: '7d' })).toEqual({
      versions: ['1.0'],
      points: [{ at: exact, vms: [1] }],
    });
  });

  test.each([
    ['7d', 2, 3],
    ['60d', 12, 1],
    ['1y', 72, 1],
  ] as const)('in %s, a step of %d hours has one point: its last hour', async (range, step, points) => {
    const handler = `Acme.Lab.Steps${step}`;
    // Hourly counts from 00:00 to 05:00 on a day that starts a new step in every range.
    const begin = Date.parse('2020-01-01T00:00:00Z');
    const steps = Math.floor((hours(24).getTime() - begin) / (72 * 3_600_000));
    const from = begin + steps * 72 * 3_600_000;
    for (let hour = 0; hour < 6; hour += 1) await count(handler, '1.0', new Date(from + hour * 3_600_000), hour + 1);
    const found = await getAdoption(ctx, { handler, range });
    expect(found.points).toHaveLength(points);
    expect(found.points.at(-1)).toEqual({ at: new Date(from + 5 * 3_600_000), vms: [6] });
  });

  test('lists the fifty versions with the most VMs', async () => {
    const handler = 'Acme.Lab.Fifty';
    for (let n = 1; n <= 52; n += 1) await count(handler, `1.${n}`, hours(2), n);
    const { versions, points } = await getAdoption(ctx, { handler, range: '7d' });
    expect(versions).toHaveLength(50);
    expect([versions.includes('1.1'), versions.includes('1.2'), versions.includes('1.3')]).toEqual([
      false,
      false,
      true,
    ]);
    expect(points[0]?.vms.reduce((sum, each) => sum + each, 0)).toBe((52 * 53) / 2 - 3);
  });
});

test('the catalogue lists the languages of the newest published version, English first', async () => {
  const handler = 'Acme.Lab.Spoken';
  await givenVersion(ctx.db, { handler, version: '1.0' });
  await givenVersion(ctx.db, { handler, version: '2.0', state: 'draft' });
  const about = { handler, messages: {}, warnings: [], updatedAt: now, updatedBy: 'test' };
  await ctx.db
    .insert(resources)
    .values([
      ...['zh', 'en', 'de'].map((lang) => ({ ...about, version: '1.0', lang })),
      { ...about, version: '2.0', lang: 'fr' },
    ]);
  const { items } = await listCatalogue(ctx, { q: handler });
  expect(items).toMatchObject([{ handler, latestVersion: '1.0', languages: ['en', 'de', 'zh'], vms: 0 }]);
});

test('the catalogue of handlers without a published version has no languages, and nothing found is an empty page', async () => {
  const handler = 'Acme.Lab.Unpublished';
  await givenVersion(ctx.db, { handler, state: 'draft' });
  expect((await listCatalogue(ctx, { q: handler })).items).toMatchObject([{ latestVersion: null, languages: [] }]);
  expect(await listCatalogue(ctx, { q: 'nothing-like-this' })).toEqual({ items: [], nextCursor: null });
});

test('the catalogue has pages, each handler once with its VMs', async () => {
  const handlers = ['Acme.Paged.A', 'Acme.Paged.B', 'Acme.Paged.C'];
  for (const handler of handlers) await givenVersion(ctx.db, { handler });
  await uses('Acme.Paged.B', '1.0.0.0', null);
  const seen: [string, number][] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listCatalogue(ctx, { q: 'Acme.Paged', limit: 2, cursor });
    seen.push(...page.items.map(({ handler, vms: used }): [string, number] => [handler, used]));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(seen).toEqual([
    ['Acme.Paged.A', 0],
    ['Acme.Paged.B', 1],
    ['Acme.Paged.C', 0],
  ]);
});
