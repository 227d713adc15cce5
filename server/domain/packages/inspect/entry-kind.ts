import type { Fault } from '#server/domain/error.ts';
import type { DirectoryEntry } from './directory.ts';

const encryptedFlags = 0x0001 | 0x0040 | 0x2000;
const aesMethod = 99;
const typeBits = 0xf000;
const file = 0x8000;
const folder = 0x4000;
const link = 0xa000;

/** Returns the faults of an entry's kind: only regular files and folders, stored or deflated, are unpacked. */
export function kindFaults(entry: DirectoryEntry, name: string): Pick<Fault, 'code' | 'params'>[] {
  const faults: Pick<Fault, 'code' | 'params'>[] = [];
  if ((entry.flags & encryptedFlags) !== 0 || entry.method === aesMethod) faults.push({ code: 'entry_encrypted' });
  else if (entry.method !== 0 && entry.method !== 8) {
    faults.push({ code: 'entry_method', params: { method: entry.method } });
  }
  const type = entry.mode & typeBits;
  if (type === link) faults.push({ code: 'entry_link' });
  else if (type !== 0 && type !== file && type !== folder) faults.push({ code: 'entry_special' });
  else if (name.endsWith('/') ? type === file || entry.unpacked !== 0 : type === folder) {
    faults.push({ code: 'entry_folder' });
  }
  if (entry.method === 0 && faults.length === 0 && entry.packed !== entry.unpacked) {
    faults.push({ code: 'entry_size', params: { declared: entry.unpacked } });
  }
  return faults;
}

/** Returns the Unix permission bits; null if the zip has none. */
export function permissions(entry: DirectoryEntry): number | null {
  return entry.mode === 0 ? null : entry.mode & 0o777;
}
