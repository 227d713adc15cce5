import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensionHealth, handlerVersions, versionCounts } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { samplePackage } from '#server/testing/sample-package.ts';
import { compareVersions } from './compare-versions.ts';
import { getAdoption } from './get-adoption.ts';
import { getHandlerOverview } from './get-handler-overview.ts';
import { listCatalogue } from './list-catalogue.ts';

let services: Services;
const now = new Date('2026-05-20T10:30:00Z');
const hoursAgo = (hours: number) => new Date(new Date('2026-05-20T10:00:00Z').getTime() - hours * 3_600_000);
const viewer = () => testContext({ services, role: 'viewer', now });

beforeAll(async () => {
  services = await testServices();
});

describe('adoption', () => {
  const handler = 'Acme.Lab.Adopted';
  beforeAll(async () => {
    const counts = [
      { version: '1.0', hour: hoursAgo(30), vms: 10, failed: 0 },
      { version: '1.0', hour: hoursAgo(3), vms: 4, failed: 1 },
      { version: '1.1', hour: hoursAgo(3), vms: 6, failed: 3 },
      { version: '1.0', hour: hoursAgo(24 * 30), vms: 9, failed: 0 },
      { version: '0.1', hour: hoursAgo(24 * 400), vms: 99, failed: 99 },
    ];
    await services.db.insert(versionCounts).values(counts.map((row) => ({ handler, ...row })));
  });

  test('has one point per step of the range, with 0 for a missing version', async () => {
    const week = await getAdoption(await viewer(), { handler, range: '7d' });
    expect(week).toEqual({
      versions: ['1.0', '1.1'],
      points: [
        { at: hoursAgo(30), vms: [10, 0] },
        { at: hoursAgo(3), vms: [4, 6] },
      ],
    });
    const year = await getAdoption(await viewer(), { handler, range: '1y' });
    expect(year.points.map(({ at }) => at)).toEqual([hoursAgo(24 * 30), hoursAgo(30), hoursAgo(3)]);
  });

  test('is empty without counts', async () => {
    expect(await getAdoption(await viewer(), { handler: 'No.Body', range: '60d' })).toEqual({
      versions: [],
      points: [],
    });
  });
});

test('the overview shows current failures per version, and failures by day', async () => {
  const handler = 'Acme.Lab.Failing';
  await givenVersion(services.db, { handler, version: '1.0' });
  await givenVersion(services.db, { handler, version: '1.1' });
  for (const health of ['failed', 'healthy', 'healthy', 'degraded'] as const) {
    const { vmId } = await givenVm(services);
    await services.db.insert(extensionHealth).values({
      ...{ vmId, name: 'x', handler, goalVersion: '1.0', version: '1.0', health, heartbeat: 'ready', since: now },
    });
  }
  await services.db.insert(versionCounts).values([
    { handler, version: '1.0', hour: hoursAgo(1), vms: 3, failed: 1 },
    { handler, version: '1.0', hour: hoursAgo(2), vms: 1, failed: 1 },
    { handler, version: '1.0', hour: hoursAgo(13 * 24), vms: 2, failed: 0 },
    { handler, version: '1.0', hour: hoursAgo(14 * 24), vms: 2, failed: 2 },
    { handler, version: '1.0', hour: hoursAgo(4 * 24), vms: 0, failed: 0 },
  ]);
  const { versions } = await getHandlerOverview(await viewer(), { handler });
  const quiet = Array.from({ length: 12 }, () => null);
  expect(versions.map(({ version, vms, failed, failures }) => ({ version, vms, failed, failures }))).toEqual([
    { version: '1.1', vms: 0, failed: 0, failures: [] },
    { version: '1.0', vms: 4, failed: 1, failures: [0, ...quiet, 0.5] },
  ]);
});

test('the catalog counts a VM once, even with two extensions of a handler', async () => {
  const [one, many] = ['Acme.Counted.One', 'Acme.Counted.Many'];
  await givenVersion(services.db, { handler: one, version: '1.0' });
  await givenVersion(services.db, { handler: many, version: '1.0', supportsMultipleExtensions: true });
  const given = async (names: Record<string, string>) => {
    const { vmId } = await givenVm(services);
    for (const [name, handler] of Object.entries(names)) {
      const health = { health: 'healthy', heartbeat: 'ready', since: now } as const;
      await services.db.insert(extensionHealth).values({ vmId, name, handler, goalVersion: '1.0', ...health });
    }
  };
  await given({ a: one, b: many, c: many });
  await given({ a: one });
  const { items } = await listCatalogue(await viewer(), { q: 'Acme.Counted' });
  expect(items.map(({ handler, vms }) => [handler, vms])).toEqual([
    [many, 1],
    [one, 2],
  ]);
});

describe('comparing two versions', () => {
  const handler = 'Acme.Lab.Compared';

  async function given(version: string, files: Record<string, string>, texts: Record<string, string>): Promise<void> {
    const zip = await samplePackage(undefined, files);
    const sha256 = createHash('sha256').update(zip).digest('hex');
    const path = await services.blobs.temporaryPath();
    await writeFile(path, zip);
    await services.blobs.putFile(path, sha256);
    await givenVersion(services.db, { handler, version });
    const listed = Object.entries(files).map(([name, text]) => ({ name, size: text.length, mode: null }));
    await services.db
      .update(handlerVersions)
      .set({ sha256, files: listed, manifestText: `[${version}]` })
      .where(eq(handlerVersions.version, version));
    const messages = Object.entries(texts).map(([id, text]) => ({ id, text }));
    const ctx = await testContext({ services });
    await setResources(ctx, { handler, version, lang: 'en', file: [{ version: 1, lang: 'en', messages }] });
  }

  beforeAll(async () => {
    await given('5.0', { 'a.txt': 'old', 'b.txt': 'same', 'c.txt': 'gone' }, { a: 'A', b: 'B', c: 'C' });
    await given('5.1', { 'a.txt': 'new', 'b.txt': 'same', 'd.txt': 'came' }, { a: 'A', b: 'Be', d: 'D' });
  });

  test('compares files by content and messages by text', async () => {
    const found = await compareVersions(await viewer(), { handler, a: '5.0', b: '5.1' });
    expect(found.files).toEqual({
      changed: [
        { name: 'a.txt', before: 3, after: 3 },
        { name: 'c.txt', before: 4, after: null },
        { name: 'd.txt', before: null, after: 4 },
      ],
      total: 3,
      same: 1,
    });
    expect(found.messages).toEqual({
      changed: [
        { name: 'b', before: 'B', after: 'Be' },
        { name: 'c', before: 'C', after: null },
        { name: 'd', before: null, after: 'D' },
      ],
      total: 3,
      same: 1,
    });
    expect(found.languages).toEqual([{ lang: 'en', added: 1, removed: 1, changed: 1 }]);
    expect([found.a.manifest, found.b.manifest, found.a.schema]).toEqual(['[5.0]', '[5.1]', null]);
  });

  test('a version equals itself; an unknown version is 404', async () => {
    const same = await compareVersions(await viewer(), { handler, a: '5.0', b: '5.0.0.0' });
    expect([same.files.total, same.messages.total]).toEqual([0, 0]);
    await expect(compareVersions(await viewer(), { handler, a: '5.0', b: '7.7' })).rejects.toMatchObject({
      code: 'version_unknown',
    });
  });
});
