import { beforeAll, expect, test } from 'vitest';
import { formulaPackage, sampleResource } from '#samples/build.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVersion } from '#server/domain/localization/index.ts';
import { receiveUpload } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { testContext } from '#server/testing/context.ts';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { buildZip } from '#server/testing/zip.ts';
import { compareVersions } from './compare-versions.ts';
import { getHandlerOverview } from './get-handler-overview.ts';
import { listCatalogue } from './list-catalogue.ts';
import { listLosses } from './list-losses.ts';

let ctx: Context;
const handler = 'Acme.Lab.blog';

beforeAll(async () => {
  ctx = await testContext({});
  await createPublisher(ctx, { namespace: 'Acme.Lab', displayName: 'Acme Lab' });
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Probe' });
  const resources = [sampleResource(handler, 'en'), sampleResource(handler, 'de')];
  await register('1.0.0.0', await formulaPackage(handler, '1.0.0.0'), { resources, publish: true });
  await register('1.1.0.0', buildZip(formulaEntries(metadataOf(), { 'hooks/install': '#!/bin/sh\n' })), {});
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function register(version: string, zip: Buffer, more: { resources?: unknown[]; publish?: boolean }) {
  const file = await receiveUpload(ctx, once(zip), zip.length);
  await registerVersion(ctx, { handler, version, file, resources: [], publish: false, carry: true, ...more });
}

test('the overview of a formula has its relations, hooks and options', async () => {
  const { kind, newest, vms } = await getHandlerOverview(ctx, { handler });
  expect({ kind, vms }).toEqual({ kind: 'formula', vms: 0 });
  expect(newest).toMatchObject({
    version: '1.0.0.0',
    reportHeartbeat: false,
    formula: { name: 'blog', requires: { db: { interface: 'store' } }, masked: ['password'] },
    settingsSchema: { publicSettings: { properties: { port: { type: 'integer', default: 8080 } } } },
    languages: [{ lang: 'en' }, { lang: 'de' }],
  });
  expect(newest?.formula?.hooks).toContain('db-relation-changed');
});

test('the overview of a handler has no formula', async () => {
  const { kind, newest } = await getHandlerOverview(ctx, { handler: 'Acme.Lab.Probe' });
  expect(kind).toBe('handler');
  expect(newest).toMatchObject({ reportHeartbeat: true, formula: null, settingsSchema: null });
});

test('the catalog lists both kinds, or one of them', async () => {
  const listed = async (kind?: 'handler' | 'formula') =>
    (await listCatalogue(ctx, kind && { kind })).items.map((row) => `${row.kind} ${row.handler}`);
  expect(await listed()).toEqual(['handler Acme.Lab.Probe', 'formula Acme.Lab.blog']);
  expect(await listed('handler')).toEqual(['handler Acme.Lab.Probe']);
  expect(await listed('formula')).toEqual(['formula Acme.Lab.blog']);
});

test('a draft without options takes languages and options of the previous version, and lists the hooks that it lacks', async () => {
  const losses = await listLosses(ctx, { handler, version: '1.1.0.0' });
  expect(losses).toMatchObject({ previous: '1.0.0.0', languages: [], isSchemaRemoved: false });
  expect(losses.manifest).toEqual(expect.arrayContaining(['provides website', 'requires db', 'start']));
  expect(losses.manifest).not.toContain('install');
});

test('two versions of a formula are compared by their metadata and files', async () => {
  const { a, b, files } = await compareVersions(ctx, { handler, a: '1.0.0.0', b: '1.1.0.0' });
  expect(a.manifest).toContain('website');
  expect(b.manifest).toBe(metadataOf());
  expect(files.changed.map(({ name }) => name)).toContain('hooks/db-relation-changed');
});
