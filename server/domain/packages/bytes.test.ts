import { randomBytes, randomUUID } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandOutputs, handlerVersions, logArchives, outputPieces } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { buildZip, packageEntries } from '#server/testing/zip.ts';
import {
  deleteDraft,
  getVersion,
  listChecksums,
  lockBytes,
  receiveUpload,
  registerPackage,
  removeUnusedBytes,
  usedBytes,
} from './index.ts';

let ctx: Context;
let vmId: string;
beforeAll(async () => {
  ctx = await testContext();
  ({ vmId } = await givenVm(ctx));
  await createPublisher(ctx, { namespace: 'Acme.Bytes', displayName: 'Acme' });
});

async function* chunks(bytes: Buffer) {
  yield bytes;
}
const receive = (bytes: Buffer) => receiveUpload(ctx, chunks(bytes), bytes.length);
const register = async (handler: string, bytes: Buffer, version = '1.0') =>
  registerPackage(ctx, { handler: `Acme.Bytes.${handler}`, version, file: await receive(bytes) });
const zipOf = (content: string) => buildZip([...packageEntries(), { name: 'content', data: content }]);

/** Stores bytes that nothing references. */
async function stored(): Promise<string> {
  const { path, sha256 } = await receive(randomBytes(20));
  await ctx.blobs.putFile(path, sha256);
  return sha256;
}

/** Functions that each write a reference to the bytes. */
const references: Record<string, (sha256: string) => Promise<unknown>> = {
  'a version': async (sha256) => {
    const { handler } = await givenVersion(ctx.db, { handler: `Acme.Bytes.H${sha256.slice(0, 8)}` });
    await ctx.db.update(handlerVersions).set({ sha256 }).where(eq(handlerVersions.handler, handler));
  },
  'a part of an output': async (sha256) => {
    const output = { vmId, id: randomUUID(), extension: sha256.slice(0, 8), sequenceNumber: 1, attempt: 1 };
    const times = { startedAt: ctx.now, updatedAt: ctx.now };
    await ctx.db.insert(commandOutputs).values({ ...output, command: 'enable', storedBytes: 1, ...times });
    const place = { start: 0, until: 1, lines: 0, endsLine: false };
    await ctx.db.insert(outputPieces).values({ vmId, outputId: output.id, sha256, ...place });
  },
  'an archive of logs': (sha256) =>
    ctx.db.insert(logArchives).values({
      ...{ vmId, id: randomUUID(), handler: 'Acme.Bytes.Probe', requestedAt: ctx.now, requestedBy: 'Ada' },
      ...{ answeredAt: ctx.now, sha256, size: 20, form: 'zip' },
    }),
};

describe('stored bytes', () => {
  test.each(Object.keys(references))('stay while %s refers to them', async (what) => {
    const sha256 = await stored();
    await references[what]?.(sha256);
    expect(await usedBytes(ctx.db, [sha256, 'f'.repeat(64)])).toEqual(new Set([sha256]));
    await removeUnusedBytes(ctx, sha256);
    expect(await ctx.blobs.size(sha256)).toBe(20);
  });

  test('without a reference are removed, and removing them again changes nothing', async () => {
    const sha256 = await stored();
    expect(await usedBytes(ctx.db, [sha256])).toEqual(new Set());
    await removeUnusedBytes(ctx, sha256);
    await removeUnusedBytes(ctx, sha256);
    expect(await ctx.blobs.size(sha256)).toBeNull();
    expect(await usedBytes(ctx.db, [])).toEqual(new Set());
  });

  test('are not removed while a transaction is about to refer to them', async () => {
    const sha256 = await stored();
    const order: string[] = [];
    const locked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const writing = ctx.db.transaction(async (tx) => {
      await lockBytes(tx, sha256);
      locked.resolve();
      await go.promise;
      const row = { vmId, id: randomUUID(), handler: 'Acme.Bytes.Probe', requestedAt: ctx.now, requestedBy: 'Ada' };
      await tx.insert(logArchives).values({ ...row, answeredAt: ctx.now, sha256, size: 20, form: 'zip' });
      order.push('written');
    });
    await locked.promise;
    const removing = removeUnusedBytes(ctx, sha256).then(() => order.push('checked'));
    const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    await expect.poll(async () => (await ctx.db.execute(waits)).rows.length).toBeGreaterThan(0);
    go.resolve();
    await Promise.all([writing, removing]);
    expect(order).toEqual(['written', 'checked']);
    expect(await ctx.blobs.size(sha256)).toBe(20);
  });

  longTest('of a draft that is deleted while the same bytes are registered again are kept', async () => {
    const zip = zipOf('registered and deleted at the same time');
    for (let round = 0; round < 5; round += 1) {
      await register('Leaving', zip);
      await Promise.all([
        deleteDraft(ctx, { handler: 'Acme.Bytes.Leaving', version: '1.0' }),
        register('Coming', zip, `1.${round}`),
      ]);
      expect(await getVersion(ctx, { handler: 'Acme.Bytes.Coming', version: `1.${round}` })).toMatchObject({
        isDamaged: false,
      });
    }
  });
});

describe('AZ-P6 a package whose stored bytes are damaged', () => {
  const path = (sha256: string) => join(ctx.config.dataDir, 'blobs', sha256.slice(0, 2), sha256);

  test.each<[string, (sha256: string) => Promise<unknown>]>([
    ['lost', (sha256) => ctx.blobs.remove(sha256)],
    ['shorter', (sha256) => writeFile(path(sha256), 'x')],
  ])('is shown as damaged when it is %s, and the same upload restores it', async (what, damage) => {
    const zip = zipOf(what);
    const { handler, version, sha256 } = await register(`Damaged-${what}`, zip);
    await damage(sha256);
    expect(await getVersion(ctx, { handler, version })).toMatchObject({ isDamaged: true });
    expect(await register(`Damaged-${what}`, zip)).toMatchObject({ created: false, sha256: sha256Hex(zip) });
    expect(await getVersion(ctx, { handler, version })).toMatchObject({ isDamaged: false });
    expect(await ctx.blobs.size(sha256)).toBe(zip.length);
  });
});

describe('the checksums of a package', () => {
  test('are those of its directory, by file name', async () => {
    const { sha256 } = await register('Sums', zipOf('one'));
    const other = await register('Sums', zipOf('two'), '2.0');
    const [first, second] = await Promise.all([listChecksums(ctx, sha256), listChecksums(ctx, other.sha256)]);
    expect([...first.keys()]).toEqual(['HandlerManifest.json', 'install.sh', 'content']);
    const differing = [...first].filter(([name, sum]) => second.get(name) !== sum).map(([name]) => name);
    expect(differing).toEqual(['content']);
  });

  test('are empty if the bytes are missing', async () => {
    expect(await listChecksums(ctx, '0'.repeat(64))).toEqual(new Map());
  });

  test('fail for bytes that are no longer a zip', async () => {
    const { sha256 } = await register('Broken', zipOf('soon broken'));
    const file = await open(join(ctx.config.dataDir, 'blobs', sha256.slice(0, 2), sha256), 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(size), 0, size, 0);
    await file.close();
    await expect(listChecksums(ctx, sha256)).rejects.toThrow();
  });
});
