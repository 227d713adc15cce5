import { crc32 } from 'node:zlib';
import type { Fault } from '#server/domain/error.ts';
import { decodeUtf8 } from '#server/platform/json.ts';

const utf8Flag = 0x800;
const unicodePathField = 0x7075;

/** An extra field of a header: its id and its bytes. */
export interface ExtraField {
  id: number;
  data: Buffer;
}

/**
 * Decodes the name of an entry: the Unicode name in an extra field, if there is one, otherwise the name itself. Returns
 * null if unpackers could disagree about the name: the extra field is invalid, belongs to another name, or differs from
 * the entry's decodable name; or, without such a field, the name is invalid UTF-8 or has non-ASCII bytes that are not
 * marked as UTF-8.
 */
export function decodeName(raw: Buffer, flags: number, extraFields: readonly ExtraField[]): string | null {
  const plain = raw.every((byte) => byte < 0x80);
  const direct = plain || (flags & utf8Flag) !== 0 ? decodeUtf8(raw) : null;
  const second = extraFields.find((field) => field.id === unicodePathField);
  if (second === undefined) return direct;
  const { data } = second;
  if (data.length < 5 || data[0] !== 1 || data.readUInt32LE(1) !== crc32(raw)) return null;
  const named = decodeUtf8(data.subarray(5));
  return direct === null || direct === named ? named : null;
}

/** Returns a name that can be shown and stored: without control characters, at most 200 characters long. */
export function shownName(raw: Buffer): string {
  const text = raw.toString('utf8').replace(/\p{C}/gu, '\ufffd');
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}

/** Returns the faults of a name as codes. No entry may leave the folder into which a package is unpacked. */
export function nameFaults(name: string): Fault['code'][] {
  const faults: Fault['code'][] = [];
  if (name.includes('\0')) faults.push('entry_name_nul');
  else if (/\p{Cc}/u.test(name)) faults.push('entry_name_control');
  if (/^[A-Za-z]:/.test(name)) faults.push('entry_name_drive');
  if (/^[/\\]/.test(name)) faults.push('entry_name_absolute');
  const parts = name.replace(/[/\\]$/, '').split(/[/\\]/);
  if (parts.includes('..')) faults.push('entry_name_escapes');
  else if (name.includes('\\')) faults.push('entry_name_backslash');
  else if (!/^[/\\]/.test(name) && parts.some((part) => part === '' || part === '.')) faults.push('entry_name_form');
  return faults;
}

/**
 * Returns a key that is equal for names that some file systems treat as the same file, because they ignore case or
 * Unicode form.
 */
export function spellingKey(name: string): string {
  return name.replace(/\/$/, '').normalize('NFC').toLowerCase().normalize('NFC');
}

/** Finds duplicate names, including names that `spellingKey` treats as equal, and files that are also folders. */
export class NameRegister {
  private readonly byKey = new Map<string, { name: string; folder: boolean }>();
  private readonly parents = new Map<string, string>();

  /** Adds a name. Returns its conflict with an earlier name, or null. */
  add(name: string): Pick<Fault, 'code' | 'params'> | null {
    const key = spellingKey(name);
    const folder = name.endsWith('/');
    const before = this.byKey.get(key);
    if (before !== undefined) {
      return before.name === name
        ? { code: 'entry_twice' }
        : { code: 'entry_two_spellings', params: { other: before.name } };
    }
    this.byKey.set(key, { name, folder });
    const child = folder ? undefined : this.parents.get(key);
    if (child !== undefined) return { code: 'entry_file_and_folder', params: { other: child } };
    for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
      const parent = key.slice(0, slash);
      const above = this.byKey.get(parent);
      if (above && !above.folder) return { code: 'entry_file_and_folder', params: { other: above.name } };
      if (this.parents.has(parent)) break;
      this.parents.set(parent, name);
    }
    return null;
  }
}
