import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { and, asc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, handlers, handlerVersions } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { buildZip, manifestOf, packageEntries } from '#server/testing/zip.ts';
import {
  deleteDraft,
  getHandler,
  getVersion,
  listHandlers,
  type RegisteredPackage,
  receiveUpload,
  registerPackage,
  setSettingsSchema,
  withdrawVersion,
} from './index.ts';

let services: Services;
let admin: Context;
let publisher: Context;

beforeAll(async () => {
  services = await testServices();
  admin = await testContext({ services });
  publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Lab'] });
  await createPublisher(admin, { namespace: 'Acme.Lab', displayName: 'Acme Laboratory' });
});

const honest = buildZip(packageEntries());
const other = buildZip([...packageEntries(), { name: 'more', data: 'x' }]);

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

async function upload(ctx: Context, handler: string, version: string, zip: Buffer): Promise<RegisteredPackage> {
  const file = await receiveUpload(ctx, pieces(zip), zip.length);
  return registerPackage(ctx, { handler, version, file });
}

const publish = (handler: string, version: string) =>
  services.db
    .update(handlerVersions)
    .set({ state: 'published', publishedAt: new Date() })
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const uploadsLeft = async () => readdir(join(services.config.dataDir, 'blobs', 'incoming'));

describe('registerPackage', () => {
  test('AZ-P1 AZ-P6 a version is registered once: the same bytes are a no-op, different bytes are rejected', async () => {
    const first = await upload(publisher, 'Acme.Lab.Probe', '1.0.0.0', honest);
    expect(first).toMatchObject({
      created: true,
      handler: 'Acme.Lab.Probe',
      version: '1.0.0.0',
      state: 'draft',
      sha256: sha256(honest),
      size: honest.length,
      warnings: [],
    });
    expect(first.manifest).toEqual(JSON.parse(manifestOf())[0]);
    expect(await upload(publisher, 'Acme.Lab.Probe', '1.0.0.0', honest)).toEqual({ ...first, created: false });
    await expect(upload(publisher, 'Acme.Lab.Probe', '1.0.0.0', other)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'draft_other_contents',
    });
    await publish('Acme.Lab.Probe', '1.0.0.0');
    await expect(upload(publisher, 'Acme.Lab.Probe', '1.0.0.0', other)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'version_other_contents',
      params: { version: '1.0.0.0' },
    });
    expect(await upload(publisher, 'Acme.Lab.Probe', '1.0.0.0', honest)).toMatchObject({
      created: false,
      state: 'published',
    });
    const stored = await services.blobs.open(sha256(honest));
    expect(await buffer(stored!.stream)).toEqual(honest);
    expect(await services.blobs.size(sha256(other))).toBeNull();
    expect(await uploadsLeft()).toEqual([]);
  });

  test('AZ-P1 a second spelling of a version or of a handler is rejected', async () => {
    await upload(publisher, 'Acme.Lab.Spelled', '1.0', honest);
    for (const version of ['1', '1.0.0', '1.0.0.0']) {
      await expect(upload(publisher, 'Acme.Lab.Spelled', version, honest)).rejects.toMatchObject({
        kind: 'conflict',
        code: 'version_other_spelling',
        params: { version, registered: '1.0' },
      });
    }
    await expect(upload(publisher, 'Acme.Lab.spelled', '2.0', honest)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'handler_other_spelling',
    });
  });

  test.each(['', '1.', '01.0', '1.0.0.0.0', '2147483648', '-1', '1.0-beta', 'v1'])(
    'AZ-P1 %j is not a version',
    async (version) => {
      await expect(upload(publisher, 'Acme.Lab.Probe', version, honest)).rejects.toMatchObject({
        kind: 'unprocessable',
        faults: [{ path: '/version', code: 'version_form' }],
      });
    },
  );

  test('a rejected package leaves no handler, no version, no bytes', async () => {
    const zip = buildZip([{ name: '../evil', data: 'x' }]);
    await expect(upload(publisher, 'Acme.Lab.Evil', '1.0', zip)).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'package_refused',
      faults: [
        { path: '../evil', code: 'entry_name_escapes' },
        { path: 'HandlerManifest.json', code: 'manifest_absent' },
      ],
    });
    expect(await services.db.$count(handlers, eq(handlers.id, 'Acme.Lab.Evil'))).toBe(0);
    expect(await services.blobs.size(sha256(zip))).toBeNull();
    expect(await uploadsLeft()).toEqual([]);
  });

  test('only publishers of the namespace can register, and only in existing namespaces', async () => {
    const stranger = await testContext({ services, role: 'publisher', namespaces: ['Other'] });
    await expect(upload(stranger, 'Acme.Lab.Probe', '9.0', honest)).rejects.toMatchObject({
      code: 'namespace_forbidden',
    });
    for (const role of ['viewer', 'operator'] as const) {
      const ctx = await testContext({ services, role });
      await expect(upload(ctx, 'Acme.Lab.Probe', '9.0', honest)).rejects.toMatchObject({ kind: 'forbidden' });
    }
    await expect(upload(stranger, 'Other.Thing', '1.0', honest)).rejects.toMatchObject({
      kind: 'not_found',
      code: 'publisher_unknown',
    });
    expect(await uploadsLeft()).toEqual([]);
  });

  test('two concurrent uploads of one version create one version', async () => {
    const both = await Promise.allSettled([
      upload(publisher, 'Acme.Lab.Race', '1.0', honest),
      upload(publisher, 'Acme.Lab.Race', '1.0', other),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'draft_other_contents' },
    });
  });

  test('the author is recorded, and open pages are notified', async () => {
    await upload(publisher, 'Acme.Lab.Told', '1.0', honest);
    const [act] = await readActs(services.db, eq(auditEntries.targetId, 'Acme.Lab.Told-1.0'));
    expect(act).toMatchObject({ action: 'version.register', actorId: 'test-publisher', targetKind: 'version' });
    expect(await services.db.$count(changes, eq(changes.key, 'Acme.Lab.Told'))).toBe(1);
  });
});

describe('receiveUpload', () => {
  const limited = (packedBytes: number, uploadBytesPerSecond = 1024): Pick<Context, 'blobs' | 'config'> => {
    const { config, blobs } = services;
    const limits = {
      ...config.limits,
      package: { ...config.limits.package, packedBytes },
      http: { ...config.limits.http, uploadBytesPerSecond },
    };
    return { blobs, config: { ...config, limits } };
  };

  test('stops at the limit, whether or not the length was declared, and reads no further', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given++;
        yield Buffer.alloc(1000);
      }
    }
    const refusal = { kind: 'too_large', code: 'package_too_large', params: { limit: 4000 } };
    await expect(receiveUpload(limited(4000), endless())).rejects.toMatchObject(refusal);
    expect(given).toBe(5);
    await expect(receiveUpload(limited(4000), endless(), 4001)).rejects.toMatchObject(refusal);
    expect(given).toBe(5);
    expect(await uploadsLeft()).toEqual([]);
  });

  test('rejects a sender that stalls or is too slow', async () => {
    async function* stalled(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
      await new Promise(() => {});
    }
    async function* trickling(): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield Buffer.alloc(1);
        await delay(5);
      }
    }
    const refusal = { kind: 'bad_request', code: 'upload_too_slow', params: { limit: 1024 } };
    await expect(receiveUpload(limited(4000), stalled(), undefined, { patienceMs: 50 })).rejects.toMatchObject(refusal);
    await expect(receiveUpload(limited(4000), trickling(), undefined, { patienceMs: 50 })).rejects.toMatchObject(
      refusal,
    );
    expect(await uploadsLeft()).toEqual([]);
  });

  test('an upload that breaks off, or is shorter than declared, leaves nothing behind', async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
      await delay(1);
      throw new Error('socket hang up');
    }
    await expect(receiveUpload(services, breaking())).rejects.toMatchObject({ code: 'upload_broken' });
    await expect(receiveUpload(services, pieces(honest), honest.length + 1)).rejects.toMatchObject({
      code: 'upload_broken',
    });
    expect(await uploadsLeft()).toEqual([]);
  });
});

describe('drafts and published versions', () => {
  test('deleting a draft removes its bytes unless another version shares them', async () => {
    await upload(publisher, 'Acme.Lab.Draft', '1.0', other);
    await upload(publisher, 'Acme.Lab.Draft', '1.1', other);
    await deleteDraft(publisher, { handler: 'Acme.Lab.Draft', version: '1.0.0' });
    expect(await services.blobs.size(sha256(other))).toBe(other.length);
    await deleteDraft(publisher, { handler: 'Acme.Lab.Draft', version: '1.1' });
    await expect(getHandler(admin, { handler: 'Acme.Lab.Draft' })).rejects.toMatchObject({ code: 'handler_unknown' });
    await expect(deleteDraft(publisher, { handler: 'Acme.Lab.Draft', version: '1.1' })).rejects.toMatchObject({
      kind: 'not_found',
      code: 'version_unknown',
    });
  });

  test('a published version can be withdrawn once, with a reason, but not deleted; a draft cannot be', async () => {
    const reference = { handler: 'Acme.Lab.Old', version: '1.0' };
    await upload(publisher, reference.handler, reference.version, honest);
    await expect(withdrawVersion(publisher, { ...reference, reason: 'x' })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'draft_not_withdrawn',
    });
    await publish(reference.handler, reference.version);
    await expect(deleteDraft(publisher, reference)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'version_not_draft',
    });
    const withdrawn = await withdrawVersion(publisher, { ...reference, reason: 'leaks memory' });
    expect(withdrawn).toMatchObject({ ...reference, state: 'withdrawn', reason: 'leaks memory' });
    expect(await withdrawVersion(publisher, { ...reference, reason: 'again' })).toEqual(withdrawn);
    await expect(withdrawVersion(publisher, { ...reference, reason: ' ' })).rejects.toMatchObject({
      faults: [{ path: '/reason' }],
    });
    expect(await services.blobs.size(sha256(honest))).toBe(honest.length);
  });
});

describe('setSettingsSchema', () => {
  const reference = { handler: 'Acme.Lab.Schema', version: '1.0' };
  const schema = {
    publicSettings: { type: 'object', properties: { port: { type: 'integer' } } },
    protectedSettings: { type: 'object', required: ['password'] },
  };

  test('AZ-P7 the publisher sets the schema of both halves of a draft; publishing fixes it', async () => {
    await upload(publisher, reference.handler, reference.version, honest);
    expect(await setSettingsSchema(publisher, { ...reference, schema })).toEqual({
      ...reference,
      settingsSchema: schema,
    });
    const { publicSettings } = schema;
    await setSettingsSchema(publisher, { ...reference, schema: { publicSettings } });
    expect((await getVersion(admin, reference)).settingsSchema).toEqual({ publicSettings });
    await publish(reference.handler, reference.version);
    await expect(setSettingsSchema(publisher, { ...reference, schema })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'schema_fixed',
    });
  });

  test('names every fault of both schemas by path', async () => {
    const draft = { handler: 'Acme.Lab.Schema', version: '2.0' };
    await upload(publisher, draft.handler, draft.version, honest);
    const wrong = {
      publicSettings: { properties: { a: { type: 'text' }, b: { minimum: '1' } } },
      protectedSettings: { $ref: 'https://example.org/schema.json' },
      other: {},
    };
    await expect(setSettingsSchema(publisher, { ...draft, schema: wrong })).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'schema_refused',
      faults: [
        { path: '/other', code: 'field_unknown' },
        { path: '/publicSettings/properties/a/type', code: 'schema_keyword' },
        { path: '/publicSettings/properties/b/minimum', code: 'schema_keyword' },
        { path: '/protectedSettings/$ref', code: 'schema_reference' },
      ],
    });
    expect((await getVersion(admin, draft)).settingsSchema).toBeNull();
    const large = { publicSettings: { description: 'x'.repeat(300_000) } };
    await expect(setSettingsSchema(publisher, { ...draft, schema: large })).rejects.toMatchObject({
      faults: [{ path: '/publicSettings', code: 'schema_too_large' }],
    });
  });
});

describe('reading', () => {
  longTest('lists and searches handlers page by page, with their highest published version', async () => {
    for (const version of ['1.9', '1.10', '2.0']) await upload(publisher, 'Acme.Lab.List', version, honest);
    await publish('Acme.Lab.List', '1.9');
    await publish('Acme.Lab.List', '1.10');
    const viewer = await testContext({ services, role: 'viewer' });
    const { items } = await listHandlers(viewer, { q: 'LAB.list' });
    expect(items).toEqual([
      {
        handler: 'Acme.Lab.List',
        namespace: 'Acme.Lab',
        type: 'List',
        kind: 'handler',
        publisher: 'Acme Laboratory',
        latestVersion: '1.10',
        versions: { draft: 1, published: 2, withdrawn: 0 },
        changedAt: expect.any(Date),
      },
    ]);
    expect((await getHandler(viewer, { handler: 'Acme.Lab.List' })).versions.map(({ version }) => version)).toEqual([
      '2.0',
      '1.10',
      '1.9',
    ]);

    const all: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await listHandlers(viewer, { limit: 2, cursor });
      all.push(...page.items.map(({ handler }) => handler));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    const ids = await services.db.select({ id: handlers.id }).from(handlers).orderBy(asc(handlers.id));
    expect(all).toEqual(ids.map(({ id }) => id));
    expect((await listHandlers(viewer, { q: '100%' })).items).toEqual([]);
  });

  test('returns manifest, text, files and warnings of a version in any spelling', async () => {
    const manifest = `\ufeff${manifestOf({ updateMode: 'UpdateWithInstall', installCommand: 'python3 install.py' })}`;
    await upload(publisher, 'Acme.Lab.Shown', '1.2', buildZip(packageEntries(manifest)));
    const viewer = await testContext({ services, role: 'viewer' });
    const shown = await getVersion(viewer, { handler: 'Acme.Lab.Shown', version: '1.2.0.0' });
    expect(shown).toMatchObject({ version: '1.2', state: 'draft', settingsSchema: null, createdBy: 'Test publisher' });
    expect(shown.manifestText).toBe(manifest.slice(1));
    expect(shown.manifest).toMatchObject({ handlerManifest: { updateMode: 'UpdateWithInstall' } });
    expect(shown.files.map(({ name }) => name)).toEqual(['HandlerManifest.json', 'install.sh']);
    expect(shown.warnings).toEqual([
      {
        path: 'HandlerManifest.json#/0/handlerManifest/installCommand',
        code: 'command_program_absent',
        params: { program: 'python3' },
      },
    ]);
    for (const version of ['7', 'x', '', '1.2.0.0.0']) {
      await expect(getVersion(viewer, { handler: 'Acme.Lab.Shown', version })).rejects.toMatchObject({
        kind: 'not_found',
      });
    }
    for (const handler of ['Acme.Lab.None', 'none', '..', 'a\0b']) {
      await expect(getHandler(viewer, { handler })).rejects.toMatchObject({ kind: 'not_found' });
      await expect(getVersion(viewer, { handler, version: '1' })).rejects.toMatchObject({ kind: 'not_found' });
    }
    const signedOut = await testContext({ services, role: null });
    await expect(getVersion(signedOut, { handler: 'Acme.Lab.Shown', version: '1.2' })).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });
});
