import { readSync } from 'node:fs';
import type { Fault } from '#server/domain/error.ts';

/** Where a zip's central directory is, and the number of entries that it declares. */
export interface EndRecord {
  entries: number;
  directoryOffset: number;
  directorySize: number;
}

const endSignature = 0x06054b50;
const end64Signature = 0x06064b50;
const locatorSignature = 0x07064b50;
const endBytes = 22;
const locatorBytes = 20;
const end64Bytes = 56;
const maxCommentLength = 0xffff;

/**
 * Reads the records at the end of a zip strictly: the directory must directly precede them, and they must be the last
 * bytes of the file, so that two readers cannot see two different packages.
 */
export function readEndRecord(fd: number, size: number): EndRecord | Fault {
  const tail = Buffer.alloc(Math.min(size, locatorBytes + endBytes + maxCommentLength));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const at = findEnd(tail);
  if (at < 0) {
    const start = Buffer.alloc(4);
    readSync(fd, start, 0, 4, 0);
    return fault(start.toString('latin1') === 'PK\u0003\u0004' ? 'zip_cut' : 'zip_none');
  }
  const comment = tail.readUInt16LE(at + 20);
  const after = tail.length - at - endBytes;
  if (after > comment) return fault('zip_trailing', { bytes: after - comment });
  if (after < comment) return fault('zip_cut');
  const endOffset = size - tail.length + at;

  const plain: EndRecord = {
    entries: tail.readUInt16LE(at + 10),
    directorySize: tail.readUInt32LE(at + 12),
    directoryOffset: tail.readUInt32LE(at + 16),
  };
  if (at >= locatorBytes && tail.readUInt32LE(at - locatorBytes) === locatorSignature) {
    return readZip64(fd, tail.subarray(at - locatorBytes, at), endOffset - locatorBytes, plain);
  }
  const disks = tail.readUInt32LE(at + 4);
  if (disks !== 0) return fault('zip_split');
  if (tail.readUInt16LE(at + 8) !== plain.entries) return fault('zip_directory');
  if (plain.directoryOffset === 0xffffffff || plain.directorySize === 0xffffffff) return fault('zip_zip64');
  return placed(plain, endOffset);
}

/** Returns the offset of the last end record in the tail; -1 if there is none. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - endBytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) === endSignature) return at;
  }
  return -1;
}

function readZip64(fd: number, locator: Buffer, locatorOffset: number, plain: EndRecord): EndRecord | Fault {
  const offset = locator.readBigUInt64LE(8);
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) return fault('zip_split');
  if (offset + BigInt(end64Bytes) > BigInt(locatorOffset)) return fault('zip_zip64');
  const record = Buffer.alloc(end64Bytes);
  readSync(fd, record, 0, end64Bytes, Number(offset));
  if (record.readUInt32LE(0) !== end64Signature) return fault('zip_zip64');
  if (offset + 12n + record.readBigUInt64LE(4) !== BigInt(locatorOffset)) return fault('zip_zip64');
  if (record.readBigUInt64LE(16) !== 0n) return fault('zip_split');

  const [onDisk, entries, directorySize, directoryOffset] = [24, 32, 40, 48].map((at) => record.readBigUInt64LE(at));
  if (entries === undefined || directorySize === undefined || directoryOffset === undefined) return fault('zip_zip64');
  const agree =
    onDisk === entries &&
    (plain.entries === 0xffff || BigInt(plain.entries) === entries) &&
    (plain.directorySize === 0xffffffff || BigInt(plain.directorySize) === directorySize) &&
    (plain.directoryOffset === 0xffffffff || BigInt(plain.directoryOffset) === directoryOffset);
  if (!agree || directorySize + directoryOffset > BigInt(locatorOffset)) return fault('zip_zip64');
  const numbers = {
    entries: Number(entries),
    directorySize: Number(directorySize),
    directoryOffset: Number(directoryOffset),
  };
  return placed(numbers, Number(offset));
}

/** Requires the directory to end where the end records start. */
function placed(record: EndRecord, endOffset: number): EndRecord | Fault {
  const gap = endOffset - record.directoryOffset - record.directorySize;
  if (gap > 0) return fault('zip_prepended', { bytes: gap });
  if (gap < 0) return fault('zip_directory');
  return record;
}

function fault(code: Fault['code'], params?: Fault['params']): Fault {
  return params === undefined ? { path: '', code } : { path: '', code, params };
}
