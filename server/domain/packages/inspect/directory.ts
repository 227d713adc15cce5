import { readSync } from 'node:fs';
import type { Fault } from '#server/domain/error.ts';
import type { EndRecord } from './end-record.ts';
import { type ExtraField, shownName } from './entry-name.ts';

/** A record of the central directory, with sizes and offset from zip64 if present. */
export interface DirectoryEntry {
  rawName: Buffer;
  /** The name, for use in messages only. */
  shown: string;
  flags: number;
  method: number;
  crc32: number;
  packed: number;
  unpacked: number;
  offset: number;
  /** Upper half of the external attributes: the Unix file type and permissions; 0 if absent. */
  mode: number;
  extraFields: ExtraField[];
  faults: Pick<Fault, 'code' | 'params'>[];
}

const signature = 0x02014b50;
const headBytes = 46;
const saturated = 0xffffffff;
/** Maximum size of the directory in bytes. */
const largestDirectory = 64 * 1024 * 1024;

/**
 * Reads every record of the central directory, including invalid records. yauzl, which later reads the accepted records
 * again, stops at the first fault, but a publisher should see all faults.
 */
export function readDirectory(fd: number, end: EndRecord, mostEntries: number): DirectoryEntry[] | Fault {
  if (end.entries > mostEntries) return tooMany(end.entries, mostEntries);
  if (end.directorySize > largestDirectory) {
    return { path: '', code: 'zip_directory_large', params: { limit: largestDirectory } };
  }
  const bytes = Buffer.alloc(end.directorySize);
  readSync(fd, bytes, 0, bytes.length, end.directoryOffset);
  const entries: DirectoryEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + headBytes > bytes.length || bytes.readUInt32LE(at) !== signature) return broken;
    const nameEnd = at + headBytes + bytes.readUInt16LE(at + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
    const next = extraEnd + bytes.readUInt16LE(at + 32);
    if (next > bytes.length) return broken;
    entries.push(
      readRecord(
        bytes.subarray(at, at + headBytes),
        bytes.subarray(at + headBytes, nameEnd),
        bytes.subarray(nameEnd, extraEnd),
      ),
    );
    if (entries.length > mostEntries) return tooMany(entries.length, mostEntries);
    at = next;
  }
  return entries.length === end.entries ? entries : broken;
}

const broken: Fault = { path: '', code: 'zip_directory' };

function tooMany(count: number, limit: number): Fault {
  return { path: '', code: 'package_entries', params: { count, limit } };
}

function readRecord(head: Buffer, rawName: Buffer, extra: Buffer): DirectoryEntry {
  const extraFields = readExtraFields(extra);
  const entry: DirectoryEntry = {
    rawName,
    shown: shownName(rawName),
    flags: head.readUInt16LE(8),
    method: head.readUInt16LE(10),
    crc32: head.readUInt32LE(16),
    packed: head.readUInt32LE(20),
    unpacked: head.readUInt32LE(24),
    offset: head.readUInt32LE(42),
    mode: head.readUInt16LE(40),
    extraFields: extraFields ?? [],
    faults: [],
  };
  if (extraFields === null || extraFields.some((field) => field.id === 0x000a && !wholeNtfs(field.data))) {
    entry.faults.push({ code: 'entry_extra_field' });
  }
  if (head.readUInt16LE(34) !== 0) entry.faults.push({ code: 'zip_split' });
  if (extraFields !== null) applyZip64(entry);
  return entry;
}

/** Reads the extra fields after a name; null if they do not fill their space exactly. */
export function readExtraFields(extra: Buffer): ExtraField[] | null {
  const fields: ExtraField[] = [];
  let at = 0;
  while (at + 4 <= extra.length) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return null;
    fields.push({ id: extra.readUInt16LE(at), data: extra.subarray(at + 4, end) });
    at = end;
  }
  // Some tools add up to three zero bytes to align the next record.
  return extra.subarray(at).every((byte) => byte === 0) ? fields : null;
}

/** Whether an NTFS field has its announced length. Some unpackers read past the end of a truncated field. */
function wholeNtfs(data: Buffer): boolean {
  let at = 4;
  while (at + 4 <= data.length) {
    const size = data.readUInt16LE(at + 2);
    if (data.readUInt16LE(at) === 1 && size !== 24) return false;
    at += 4 + size;
  }
  return at === data.length;
}

/**
 * Takes sizes and offset from the zip64 field if their 32-bit values are saturated. The zip64 field must contain the
 * real value for each saturated value.
 */
function applyZip64(entry: DirectoryEntry): void {
  const field = entry.extraFields.find((candidate) => candidate.id === 1)?.data;
  const wanted = (['unpacked', 'packed', 'offset'] as const).filter((key) => entry[key] === saturated);
  if (field === undefined) {
    if (wanted.length > 0) entry.faults.push({ code: 'entry_zip64' });
    return;
  }
  const values = wanted.map((_, index) => (index * 8 + 8 <= field.length ? field.readBigUInt64LE(index * 8) : null));
  if (values.some((value) => value === null || value > BigInt(Number.MAX_SAFE_INTEGER))) {
    entry.faults.push({ code: 'entry_zip64' });
    return;
  }
  wanted.forEach((key, index) => {
    entry[key] = Number(values[index]);
  });
  // Some tools write both sizes although 32 bits are enough. In that case, they must equal the 32-bit values.
  if (wanted.length === 0 && field.length >= 16) {
    const same =
      field.readBigUInt64LE(0) === BigInt(entry.unpacked) && field.readBigUInt64LE(8) === BigInt(entry.packed);
    if (!same) entry.faults.push({ code: 'entry_zip64' });
  }
}
