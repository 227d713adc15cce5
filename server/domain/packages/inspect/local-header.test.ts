import { expect, test } from 'vitest';
import { buildZip, type ZipEntry } from '#server/testing/zip.ts';
import { withOpenedFile } from '../testing/opened-file.ts';
import { type DirectoryEntry, readDirectory } from './directory.ts';
import { readEndRecord } from './end-record.ts';
import { type LocalHeader, readLocalHeader } from './local-header.ts';

const headBytes = 30;
const saturated = 0xffffffff;
const utf8 = 0x0800;
const descriptor = 0x0008;

/** Reads the local header of a zip's only entry, after applying `change` to the entry's directory record. */
function readHeader(given: Partial<ZipEntry>, change: Partial<DirectoryEntry> = {}): Promise<LocalHeader> {
  return withOpenedFile(buildZip([{ name: 'a.txt', data: 'a'.repeat(50), ...given }]), (fd, size) => {
    const end = readEndRecord(fd, size);
    const directory = 'code' in end ? end : readDirectory(fd, end, 1);
    const entry = Array.isArray(directory) ? directory[0] : undefined;
    if (entry === undefined) throw new Error('the directory cannot be read');
    return readLocalHeader(fd, { ...entry, ...change });
  });
}

/** Returns a zip64 extra field with these values. */
function zip64(...values: bigint[]): Buffer {
  const field = Buffer.alloc(4 + values.length * 8);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, index) => {
    field.writeBigUInt64LE(value, 4 + index * 8);
  });
  return field;
}
const stored = { method: 0 as const };
const both = { ...stored, local: { unpacked: saturated, packed: saturated } };

test.each<[what: string, entry: Partial<ZipEntry>, extraBytes: number]>([
  ['a deflated entry', {}, 0],
  ['a stored entry', stored, 0],
  ['an entry of zip64', { zip64: true }, 20],
  ['zip64 only in the local header', { ...both, local: { ...both.local, extra: zip64(50n, 50n) } }, 20],
  ['one size in zip64', { ...stored, local: { unpacked: saturated, extra: zip64(50n) } }, 12],
  ['a descriptor and zeros', { descriptor: true }, 0],
  ['a descriptor and placeholders', { descriptor: true, local: { crc32: saturated, packed: saturated } }, 0],
  ['a descriptor and the true sizes', { ...stored, descriptor: true, local: { packed: 50, unpacked: 50 } }, 0],
  ['flags about the compression level', { local: { flags: utf8 | 0x0006 } }, 0],
  ['an extra field of its own', { local: { extra: Buffer.from('55540100ff', 'hex') } }, 5],
  ['padding behind the extra fields', { local: { extra: Buffer.alloc(3) } }, 3],
])('%s: the data follows the local header', async (_, entry, extraBytes) => {
  expect(await readHeader(entry)).toEqual({ dataStart: headBytes + 'a.txt'.length + extraBytes });
});

test.each<[what: string, entry: Partial<ZipEntry>, differs: string]>([
  ['another name', { local: { name: 'b.txt' } }, 'name'],
  ['a name in another case', { local: { name: 'A.txt' } }, 'name'],
  ['a longer name', { local: { name: 'a.txt.sh' } }, 'name'],
  ['a shorter name', { local: { name: 'a' } }, 'name'],
  ['encryption', { local: { flags: utf8 | 0x0001 } }, 'flags'],
  ['a descriptor', { local: { flags: utf8 | descriptor } }, 'flags'],
  ['a descriptor only in the directory', { descriptor: true, local: { flags: utf8 } }, 'flags'],
  ['another encoding of the name', { local: { flags: 0 } }, 'flags'],
  ['another method', { local: { method: 0 } }, 'method'],
  ['an extra field longer than its place', { local: { extra: Buffer.from('555409000000', 'hex') } }, 'extra field'],
  ['bytes behind the extra fields', { local: { extra: Buffer.from('01', 'hex') } }, 'extra field'],
  ['another checksum', { local: { crc32: 1 } }, 'checksum'],
  ['no checksum, and no descriptor', { local: { crc32: 0 } }, 'checksum'],
  ['another checksum before a descriptor', { descriptor: true, local: { crc32: 1 } }, 'checksum'],
  ['another compressed size', { ...stored, local: { packed: 49 } }, 'size'],
  ['another uncompressed size', { ...stored, local: { unpacked: 51 } }, 'size'],
  ['no sizes, and no descriptor', { ...stored, local: { packed: 0, unpacked: 0 } }, 'size'],
  ['another size before a descriptor', { descriptor: true, local: { unpacked: 51 } }, 'size'],
  ['sizes for zip64, and no zip64', both, 'size'],
  ['other sizes in zip64', { ...both, local: { ...both.local, extra: zip64(51n, 50n) } }, 'size'],
  ['one of two sizes in zip64', { ...both, local: { ...both.local, extra: zip64(50n) } }, 'size'],
  ['a size beyond all numbers', { ...both, local: { ...both.local, extra: zip64(2n ** 64n - 1n, 50n) } }, 'size'],
])('%s in the local header is a difference in the %s', async (_, entry, differs) => {
  expect(await readHeader(entry)).toEqual({ differs });
});

test.each<[where: string, offset: number]>([
  ['in the middle of an entry', 1],
  ['in the directory', 60],
  ['less than a header before the end', 120],
  ['behind the end', 100_000],
])('an offset %s leads to no local header', async (_, offset) => {
  expect(await readHeader(stored, { offset })).toEqual({ differs: 'signature' });
});
