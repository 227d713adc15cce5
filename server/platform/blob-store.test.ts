import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BlobStore, openBlobStore } from './blob-store.ts';

let root: string;
let store: BlobStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'annex-blobs-'));
  store = openBlobStore(join(root, 'blobs'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const digest = (contents: string) => createHash('sha256').update(contents).digest('hex');

async function put(contents: string): Promise<string> {
  const path = await store.temporaryPath();
  await writeFile(path, contents);
  await store.putFile(path, digest(contents));
  return digest(contents);
}

describe('blob store', () => {
  test('stores bytes under their digest, for complete or range reads, readable only by this user', async () => {
    const sha256 = await put('0123456789');
    expect(await store.size(sha256)).toBe(10);
    const whole = await store.open(sha256);
    expect(whole?.size).toBe(10);
    expect(await text(whole!.stream)).toBe('0123456789');
    const part = await store.open(sha256, { start: 2, end: 4 });
    expect(part?.size).toBe(10);
    expect(await text(part!.stream)).toBe('234');
    expect((await stat(join(root, 'blobs', sha256.slice(0, 2)))).mode & 0o077).toBe(0);
    expect(await readdir(join(root, 'blobs', 'incoming'))).toEqual([]);
  });

  test('storing or removing the same bytes twice is not an error', async () => {
    const sha256 = await put('same');
    expect(await put('same')).toBe(sha256);
    await store.remove(sha256);
    await store.remove(sha256);
    expect(await store.open(sha256)).toBeNull();
    expect(await store.size(sha256)).toBeNull();
  });

  test.each(['', '..', 'AB'.repeat(32), '../'.repeat(22).slice(0, 64)])(
    '%j is rejected as a digest',
    async (sha256) => {
      await expect(store.open(sha256)).rejects.toThrow(RangeError);
      await expect(store.remove(sha256)).rejects.toThrow(RangeError);
    },
  );

  test('removes uploads left by a crash, and keeps running uploads', async () => {
    expect(await store.clearTemporary(new Date())).toBe(0);
    const old = await store.temporaryPath();
    await writeFile(old, 'x');
    await utimes(old, new Date(0), new Date(0));
    const current = await store.temporaryPath();
    await writeFile(current, 'y');
    expect(await store.clearTemporary(new Date(Date.now() - 60_000))).toBe(1);
    expect(await readdir(join(root, 'blobs', 'incoming'))).toHaveLength(1);
  });
});
