import { describe, expect, test } from 'vitest';
import { buildZip, packageEntries, type ZipOptions } from '#server/testing/zip.ts';
import { withOpenedFile } from '../testing/opened-file.ts';
import { readEndRecord } from './end-record.ts';

const endBytes = 22;
const locatorBytes = 20;
const record64Bytes = 56;
const withOptions = (options: ZipOptions) => buildZip(packageEntries(), options);
const honest = withOptions({});
const offset = honest.readUInt32LE(honest.length - 6);
const size = honest.length - endBytes - offset;
const found = { entries: 2, directoryOffset: offset, directorySize: size };
const end = (change: (record: Buffer) => void) => withOptions({ end: change });
const record64 = (change: (record: Buffer) => void) => withOptions({ zip64: change });
const locator = (change: (locator: Buffer) => void) => {
  const zip = withOptions({ zip64: true });
  change(zip.subarray(-endBytes - locatorBytes, -endBytes));
  return zip;
};
/**
 * Returns a zip64 package whose 32-bit end record also has these values. In a valid package, the zip64 record has the
 * same values.
 */
const both = (entries: number, bytes: number, at: number) =>
  withOptions({
    zip64: true,
    end: (record) => {
      record.writeUInt16LE(entries, 10);
      record.writeUInt32LE(bytes, 12);
      record.writeUInt32LE(at, 16);
    },
  });
const behind = (bytes: Buffer) => Buffer.concat([honest, bytes]);
/** A comment that some readers mistake for the end record of another, empty zip. */
const secondEnd = buildZip([]).toString('latin1');

describe('the end of a zip', () => {
  test.each<[what: string, zip: Buffer, read: object]>([
    ['without a comment', honest, found],
    ['without entries', buildZip([]), { entries: 0, directoryOffset: 0, directorySize: 0 }],
    ['with the longest comment', withOptions({ comment: 'c'.repeat(0xffff) }), found],
    ['with a comment that ends with a signature', withOptions({ comment: 'PK\u0005\u0006' }), found],
    ['of zip64', withOptions({ zip64: true }), found],
    ['of zip64 with a comment', withOptions({ zip64: true, comment: 'c' }), found],
    ['of zip64 with the same 32-bit values', both(2, size, offset), found],
    ['of zip64 whose locator counts no disks', locator((bytes) => bytes.writeUInt32LE(0, 16)), found],
  ])('%s is read', async (_, zip, read) => {
    expect(await withOpenedFile(zip, readEndRecord)).toEqual(read);
  });

  test.each<[what: string, zip: Buffer, fault: object]>([
    ['nothing', Buffer.alloc(0), { code: 'zip_none' }],
    ['three bytes', Buffer.from('PK\u0003'), { code: 'zip_none' }],
    ['an end record without its last byte', buildZip([]).subarray(0, -1), { code: 'zip_none' }],
    ['only the first signature', Buffer.from('PK\u0003\u0004'), { code: 'zip_cut' }],
    ['a zip without its end', honest.subarray(0, -endBytes), { code: 'zip_cut' }],
    ['a zip without its last byte', honest.subarray(0, -1), { code: 'zip_cut' }],
    ['a comment without its last byte', withOptions({ comment: 'cut' }).subarray(0, -1), { code: 'zip_cut' }],
    ['a comment that is announced and absent', end((record) => record.writeUInt16LE(1, 20)), { code: 'zip_cut' }],
    ['one byte behind the end', behind(Buffer.alloc(1)), { code: 'zip_trailing', params: { bytes: 1 } }],
    [
      'a comment longer than announced',
      withOptions({ comment: 'longer', end: (record) => record.writeUInt16LE(4, 20) }),
      { code: 'zip_trailing', params: { bytes: 2 } },
    ],
    [
      'as many bytes behind the end as are searched',
      behind(Buffer.alloc(0xffff + locatorBytes)),
      { code: 'zip_trailing', params: { bytes: 0xffff + locatorBytes } },
    ],
    ['more bytes behind the end than are searched', behind(Buffer.alloc(0x10000 + locatorBytes)), { code: 'zip_cut' }],
    [
      'a second end in the comment',
      withOptions({ comment: secondEnd }),
      { code: 'zip_prepended', params: { bytes: honest.length } },
    ],
    ['the number of another disk', end((record) => record.writeUInt16LE(1, 4)), { code: 'zip_split' }],
    ['a directory on another disk', end((record) => record.writeUInt16LE(1, 6)), { code: 'zip_split' }],
    ['fewer entries on this disk', end((record) => record.writeUInt16LE(1, 8)), { code: 'zip_directory' }],
    ['a directory that is too long', end((record) => record.writeUInt32LE(size + 1, 12)), { code: 'zip_directory' }],
    [
      'a directory that ends too early',
      end((record) => record.writeUInt32LE(size - 1, 12)),
      { code: 'zip_prepended', params: { bytes: 1 } },
    ],
    [
      'a directory that starts too late',
      end((record) => record.writeUInt32LE(offset + 1, 16)),
      { code: 'zip_directory' },
    ],
    [
      'a directory that starts too early',
      end((record) => record.writeUInt32LE(offset - 7, 16)),
      { code: 'zip_prepended', params: { bytes: 7 } },
    ],
    ['a size for zip64, and no zip64', end((record) => record.writeUInt32LE(0xffffffff, 12)), { code: 'zip_zip64' }],
    ['an offset for zip64, and no zip64', end((record) => record.writeUInt32LE(0xffffffff, 16)), { code: 'zip_zip64' }],
  ])('%s is rejected', async (_, zip, fault) => {
    expect(await withOpenedFile(zip, readEndRecord)).toEqual({ path: '', ...fault });
  });
});

describe('the end of a zip64', () => {
  const recordOffset = BigInt(offset + size);
  test.each<[what: string, zip: Buffer, fault: object]>([
    ['a record on another disk', locator((bytes) => bytes.writeUInt32LE(1, 4)), { code: 'zip_split' }],
    ['two disks', locator((bytes) => bytes.writeUInt32LE(2, 16)), { code: 'zip_split' }],
    [
      'a record that overlaps its locator',
      locator((bytes) => bytes.writeBigUInt64LE(recordOffset + 1n, 8)),
      { code: 'zip_zip64' },
    ],
    ['a record far outside', locator((bytes) => bytes.writeBigUInt64LE(2n ** 64n - 1n, 8)), { code: 'zip_zip64' }],
    ['a record in the first entry', locator((bytes) => bytes.writeBigUInt64LE(0n, 8)), { code: 'zip_zip64' }],
    ['a record without its signature', record64((record) => record.writeUInt32LE(0, 0)), { code: 'zip_zip64' }],
    [
      'a record longer than its place',
      record64((record) => record.writeBigUInt64LE(BigInt(record64Bytes - 11), 4)),
      { code: 'zip_zip64' },
    ],
    ['a record of another disk', record64((record) => record.writeUInt32LE(1, 16)), { code: 'zip_split' }],
    ['a directory on another disk', record64((record) => record.writeUInt32LE(1, 20)), { code: 'zip_split' }],
    ['fewer entries on this disk', record64((record) => record.writeBigUInt64LE(1n, 24)), { code: 'zip_zip64' }],
    ['another 32-bit count', both(3, size, offset), { code: 'zip_zip64' }],
    ['another 32-bit size', both(2, size + 1, offset), { code: 'zip_zip64' }],
    ['another 32-bit offset', both(2, size, offset - 1), { code: 'zip_zip64' }],
    [
      'a directory that reaches into its locator',
      record64((record) => record.writeBigUInt64LE(BigInt(size + record64Bytes + 1), 40)),
      { code: 'zip_zip64' },
    ],
    [
      'a directory that reaches into its record',
      record64((record) => record.writeBigUInt64LE(BigInt(size + 1), 40)),
      { code: 'zip_directory' },
    ],
    [
      'bytes between directory and record',
      record64((record) => record.writeBigUInt64LE(BigInt(size - 5), 40)),
      { code: 'zip_prepended', params: { bytes: 5 } },
    ],
  ])('%s is rejected', async (_, zip, fault) => {
    expect(await withOpenedFile(zip, readEndRecord)).toEqual({ path: '', ...fault });
  });
});
