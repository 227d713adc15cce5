import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { handlers } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { buildZip, packageEntries } from '#server/testing/zip.ts';
import {
  checkSettings,
  deleteDraft,
  getHandler,
  getVersion,
  listDrafts,
  listHandlers,
  manifestLosses,
  receiveUpload,
  registerPackage,
  requireKind,
  setSettingsSchema,
} from './index.ts';

let services: Services;
let publisher: Context;

beforeAll(async () => {
  services = await testServices();
  publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Lab'] });
  const admin = await testContext({ services });
  await createPublisher(admin, { namespace: 'Acme.Lab', displayName: 'Acme Laboratory' });
  await upload('Acme.Lab.blog', '1.0.0.0', blog);
  await upload('Acme.Lab.Probe', '1.0.0.0', buildZip(packageEntries()));
});

const options = 'options: { title: { type: string, default: My blog }, workers: { type: int, default: 4 } }\n';
const related = metadataOf('requires: { db: { interface: mysql } }\n');
const blog = buildZip(formulaEntries(related, { 'config.yaml': options, 'hooks/install': '#!/bin/sh\n' }));

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function upload(handler: string, version: string, zip: Buffer, kind?: 'handler' | 'formula') {
  const file = await receiveUpload(publisher, once(zip), zip.length);
  return registerPackage(publisher, { handler, version, file, ...(kind && { kind }) });
}

const kindOf = async (handler: string) => {
  const [row] = await services.db.select({ kind: handlers.kind }).from(handlers).where(eq(handlers.id, handler));
  return row?.kind;
};

describe('the kind of an id', () => {
  test('is the kind of its first package', async () => {
    expect(await kindOf('Acme.Lab.blog')).toBe('formula');
    expect(await kindOf('Acme.Lab.Probe')).toBe('handler');
    expect(await getHandler(publisher, { handler: 'Acme.Lab.blog' })).toMatchObject({ kind: 'formula', type: 'blog' });
  });

  test('is kept by later versions', async () => {
    const handler = buildZip(packageEntries());
    const refused = ['metadata_absent', 'package_is_handler'];
    await expect(upload('Acme.Lab.blog', '2.0.0.0', handler)).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'package_refused',
      faults: refused.map((code) => expect.objectContaining({ code })),
    });
    await expect(upload('Acme.Lab.Probe', '2.0.0.0', blog)).rejects.toMatchObject({ code: 'package_refused' });
    expect(await outcomeOf(upload('Acme.Lab.blog', '2.0.0.0', handler, 'handler'))).toBe(
      'not_found handler_is_formula',
    );
  });

  test('is free again after the only draft was deleted', async () => {
    const shop = buildZip(formulaEntries(metadataOf().replace('blog', 'shop')));
    await upload('Acme.Lab.shop', '1.0', shop);
    await deleteDraft(publisher, { handler: 'Acme.Lab.shop', version: '1.0' });
    await upload('Acme.Lab.shop', '1.0', buildZip(packageEntries()));
    expect(await kindOf('Acme.Lab.shop')).toBe('handler');
  });

  test('decides which calls find it', async () => {
    await requireKind(publisher, 'Acme.Lab.blog', 'formula');
    await requireKind(publisher, 'Acme.Lab.None', 'formula');
    expect(await outcomeOf(requireKind(publisher, 'Acme.Lab.blog', 'handler'))).toBe('not_found handler_is_formula');
    expect(await outcomeOf(requireKind(publisher, 'Acme.Lab.Probe', 'formula'))).toBe('not_found formula_is_handler');
  });

  test('is a filter of the list', async () => {
    const ids = async (kind?: 'handler' | 'formula') =>
      (await listHandlers(publisher, { q: 'acme.lab', ...(kind && { kind }) })).items.map(
        (row) => `${row.kind} ${row.type}`,
      );
    expect(await ids()).toEqual(['handler Probe', 'formula blog', 'handler shop']);
    expect(await ids('handler')).toEqual(['handler Probe', 'handler shop']);
    expect(await ids('formula')).toEqual(['formula blog']);
  });
});

test('the name in metadata.yaml must be the last part of the id', async () => {
  await expect(upload('Acme.Lab.store', '1.0', blog)).rejects.toMatchObject({
    faults: [
      { path: 'metadata.yaml#/name', code: 'formula_other_name', params: { expected: 'store', line: 1, column: 1 } },
    ],
  });
});

test('the options are the public half of the schema until a publisher sets another schema', async () => {
  const reference = { handler: 'Acme.Lab.blog', version: '1.0.0.0' };
  const { settingsSchema, manifest, manifestText, settingsSchemaFrom } = await getVersion(publisher, reference);
  expect(settingsSchemaFrom).toBeNull();
  expect(manifest).toMatchObject({ name: 'blog', hooks: ['install'], requires: { db: { interface: 'mysql' } } });
  expect(manifestText).toBe(related);
  expect(await checkSettings(services, settingsSchema, { publicSettings: { title: 'x', workers: 2 } })).toEqual([]);
  const faults = await checkSettings(services, settingsSchema, { publicSettings: { workers: '2', colour: 'red' } });
  expect(faults.map(({ path }) => path).toSorted()).toEqual(['/publicSettings/colour', '/publicSettings/workers']);

  const own = { publicSettings: { type: 'object' }, protectedSettings: { type: 'object' } };
  await setSettingsSchema(publisher, { ...reference, schema: own });
  expect((await getVersion(publisher, reference)).settingsSchema).toEqual(own);
  expect((await upload('Acme.Lab.blog', '1.0.0.0', blog)).created).toBe(false);
  expect((await getVersion(publisher, reference)).settingsSchema).toEqual(own);
});

test('drafts of formulas are listed like those of handlers', async () => {
  const { items } = await listDrafts(publisher);
  expect(items.map(({ handler }) => handler)).toContain('Acme.Lab.blog');
});

test('a version that drops relations or hooks loses them', async () => {
  const { manifest } = await getVersion(publisher, { handler: 'Acme.Lab.blog', version: '1.0.0.0' });
  const bare = buildZip(formulaEntries(metadataOf('requires: { db: { interface: postgres } }\n')));
  const next = await upload('Acme.Lab.blog', '1.1.0.0', bare);
  expect(manifestLosses(manifest, next.manifest)).toEqual(['requires db', 'install']);
  expect(manifestLosses(next.manifest, manifest)).toEqual(['requires db']);
});
