import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits, type Limits } from '#server/platform/limits.ts';
import { buildZip, type ZipEntry } from '#server/testing/zip.ts';
import { NestedArchives } from './nested.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-nested-'));
});
afterEach(async () => expect(await readdir(folder), 'no copies are left').toEqual([]));
afterAll(() => rm(folder, { recursive: true }));

const MiB = 1024 * 1024;
const bounds = (changed: Partial<Limits['package']>): Limits => ({
  ...defaultLimits,
  package: { ...defaultLimits.package, ...changed },
});
const { ratio } = defaultLimits.package;
const nestedIn = (packageSize: number, limits = defaultLimits) =>
  new NestedArchives(join(folder, 'upload'), packageSize, limits);

/** Inspects archives in turn, as entries of a package of `packageSize` bytes. Returns their fault codes. */
async function codesOf(archives: readonly Buffer[], packageSize = 100 * MiB, limits = defaultLimits) {
  const nested = nestedIn(packageSize, limits);
  const codes: (string | null)[] = [];
  for (const archive of archives) {
    const watch = nested.watch();
    watch.take(archive);
    codes.push((await watch.finish())?.code ?? null);
  }
  return codes;
}

/** Returns an archive that declares this unpacked size, although its data is smaller. */
const declaring = (unpacked: number, changed: Partial<ZipEntry> = {}) =>
  buildZip([{ name: 'zeros', raw: deflateRawSync(Buffer.alloc(9)), lies: { unpacked }, ...changed }]);
const around = (inner: Buffer, changed: Partial<ZipEntry> = {}) =>
  buildZip([{ name: 'inner.zip', data: inner, method: 0, ...changed }]);
const aroundTimes = (times: number, inner: Buffer): Buffer =>
  times === 0 ? inner : around(aroundTimes(times - 1, inner));
const bomb = declaring(500 * MiB);

describe('an archive in a package', () => {
  test.each<[what: string, archive: Buffer, code: string | null]>([
    ['empty', buildZip([]), null],
    ['with a file', declaring(9), null],
    ['that declares 1 MiB, whatever its size', declaring(MiB), null],
    ['that declares one byte more', declaring(MiB + 1), 'nested_bomb'],
    ['that declares 1 MiB in two files', buildZip(['a', 'b'].map((name) => half(name, MiB / 2))), null],
    ['that declares more in two files', buildZip(['a', 'b'].map((name) => half(name, MiB / 2 + 1))), 'nested_bomb'],
    ['that really has 2 MiB', around(Buffer.alloc(2 * MiB)), null],
    ['that declares 2^50 bytes', declaring(2 ** 50, { zip64: true }), 'nested_bomb'],
    ['whose end is missing', bomb.subarray(0, -1), null],
    ['whose directory is broken', brokenDirectory(bomb), null],
    ['whose file cannot be unpacked', declaring(9, { raw: Buffer.from('ffff', 'hex') }), null],
  ])('%s: %s', async (_, archive, code) => {
    expect(await codesOf([archive])).toEqual([code]);
  });

  function half(name: string, unpacked: number): ZipEntry {
    return { name, raw: Buffer.alloc(0), lies: { unpacked } };
  }

  function brokenDirectory(zip: Buffer): Buffer {
    const broken = Buffer.from(zip);
    broken.writeUInt32LE(0, broken.indexOf(Buffer.from('504b0102', 'hex')));
    return broken;
  }

  test.each([
    [1, 'nested_bomb'],
    [2, 'nested_bomb'],
    [3, 'nested_bomb'],
    [4, null],
  ])('a bomb in %i other archives: %s', async (times, code) => {
    expect(await codesOf([aroundTimes(times, bomb)])).toEqual([code]);
  });

  test.each<[what: string, changed: Partial<ZipEntry>, code: string | null]>([
    ['deflated', { method: 8 }, 'nested_bomb'],
    ['without the name of an archive', { name: 'readme.txt' }, 'nested_bomb'],
    ['encrypted', { lies: { flags: 0x0801 } }, null],
    ['with an unknown method', { lies: { method: 12 } }, null],
    ['that is not where the directory says', { central: { offset: 5 } }, null],
    ['behind other bytes', { data: Buffer.concat([Buffer.from('#!/bin/sh\n'), bomb]) }, null],
  ])('a bomb in another archive, %s: %s', async (_, changed, code) => {
    expect(await codesOf([around(bomb, changed)])).toEqual([code]);
  });
});

describe('all archives of a package', () => {
  const small = () => declaring(MiB / 2);

  test('declare at most 1 MiB together in a small package', async () => {
    expect(await codesOf([small(), small(), declaring(1)], 1)).toEqual([null, null, 'nested_bomb']);
  });

  test('declare more in a larger package, up to its ratio', async () => {
    const size = (1.5 * MiB) / ratio;
    expect(await codesOf([small(), small(), small(), declaring(ratio)], size)).toEqual([
      null,
      null,
      null,
      'nested_bomb',
    ]);
  });

  test('declare at most what a package may unpack to, however large it is', async () => {
    const limits = bounds({ unpackedBytes: MiB / 2 + 1 });
    expect(await codesOf([small(), declaring(1), declaring(1)], 100 * MiB, limits)).toEqual([
      null,
      null,
      'nested_bomb',
    ]);
  });

  test('are counted with the archives inside them', async () => {
    const outer = around(small());
    expect(await codesOf([outer, outer, small()], 1)).toEqual([null, 'nested_bomb', 'nested_bomb']);
  });

  test('have as many entries each as a package', async () => {
    const files = (count: number) => buildZip(Array.from({ length: count }, (_, at) => ({ name: `${at}` })));
    expect(await codesOf([files(10), files(11)], MiB, bounds({ entries: 10 }))).toEqual([null, 'nested_bomb']);
  });
});

describe('an entry that is read in pieces', () => {
  test.each<[what: string, bytes: Buffer, isNone: boolean, code: string | null]>([
    ['nothing', Buffer.alloc(0), false, null],
    ['the first three bytes of an archive', Buffer.from('PK\u0003'), false, null],
    ['text', Buffer.from('text'), true, null],
    ['an archive without entries', buildZip([]), true, null],
    ['an archive', declaring(9), false, null],
    ['a bomb', bomb, false, 'nested_bomb'],
  ])('%s', async (_, bytes, isNone, code) => {
    const watch = nestedIn(MiB).watch();
    for (const byte of bytes) watch.take(Buffer.from([byte]));
    expect(watch.isNone()).toBe(isNone);
    expect((await watch.finish())?.code ?? null).toBe(code);
  });

  test('is stored while it is read, next to the package and for its owner only', async () => {
    const nested = nestedIn(MiB);
    const [first, second] = [nested.watch(), nested.watch()];
    for (const watch of [first, second]) watch.take(bomb);
    expect((await readdir(folder)).sort()).toEqual(['upload.nested-0', 'upload.nested-1']);
    for (const watch of [first, second]) expect(await watch.finish()).toEqual({ code: 'nested_bomb' });
  });
});
