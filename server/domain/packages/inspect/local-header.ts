import { readSync } from 'node:fs';
import { type DirectoryEntry, readExtraFields } from './directory.ts';

/** The position of an entry's data, or the field in which its local header differs from the directory. */
export type LocalHeader = { dataStart: number } | { differs: string };

const signature = 0x04034b50;
const headBytes = 30;
const saturated = 0xffffffff;
const descriptorFlag = 0x8;
/** Flags that change how an entry is read: encryption, sizes after the data, UTF-8. */
const meaningfulFlags = 0x0001 | descriptorFlag | 0x0800;

/**
 * Reads the header before an entry's data and compares it with the directory, because some unpackers trust the header
 * and some trust the directory.
 */
export function readLocalHeader(fd: number, entry: DirectoryEntry): LocalHeader {
  const head = Buffer.alloc(headBytes);
  if (readSync(fd, head, 0, headBytes, entry.offset) !== headBytes || head.readUInt32LE(0) !== signature) {
    return { differs: 'signature' };
  }
  const nameBytes = head.readUInt16LE(26);
  const extraBytes = head.readUInt16LE(28);
  const rest = Buffer.alloc(nameBytes + extraBytes);
  readSync(fd, rest, 0, rest.length, entry.offset + headBytes);
  const dataStart = entry.offset + headBytes + rest.length;

  const flags = head.readUInt16LE(6);
  if (!rest.subarray(0, nameBytes).equals(entry.rawName)) return { differs: 'name' };
  if ((flags & meaningfulFlags) !== (entry.flags & meaningfulFlags)) return { differs: 'flags' };
  if (head.readUInt16LE(8) !== entry.method) return { differs: 'method' };

  const extraFields = readExtraFields(rest.subarray(nameBytes));
  if (extraFields === null) return { differs: 'extra field' };
  const zip64 = extraFields.find((field) => field.id === 1)?.data;
  let used = 0;
  const size = (short: number): number => {
    if (short !== saturated || zip64 === undefined || used + 8 > zip64.length) return short;
    used += 8;
    return Number(zip64.readBigUInt64LE(used - 8));
  };
  const unpacked = size(head.readUInt32LE(22));
  const packed = size(head.readUInt32LE(18));
  const crc = head.readUInt32LE(14);
  // If a data descriptor follows the data, zeros (or zip64's placeholders) are allowed here.
  const later = (flags & descriptorFlag) !== 0;
  const same = (here: number, there: number) => here === there || (later && (here === 0 || here === saturated));
  if (!same(crc, entry.crc32)) return { differs: 'checksum' };
  if (!same(packed, entry.packed) || !same(unpacked, entry.unpacked)) return { differs: 'size' };
  return { dataStart };
}
