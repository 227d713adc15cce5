import { utf8Bytes } from '../limits.ts';
import { executionLimits } from './limits.ts';
import { entriesOf, hasControl, isObject, type Path, type PlanFaults, textOf } from './plan-faults.ts';

/** Where a file's contents are: in `Body`, as text or base64; in the portal; or at an address (MU-7). */
export const bodyTypes = ['Text', 'Base64', 'ID', 'URI'] as const;
export type BodyType = (typeof bodyTypes)[number];

/** A file of a plan. `body` is its contents, its id in the portal, or its address. */
export interface PlanFile {
  name: string;
  bodyType: BodyType;
  body: string;
  /** The SHA-256 that a fetched file must have, in hexadecimal; null if the plan gives none. */
  sha256: string | null;
}

/** Returns the valid files of a plan by their ids. Adds the faults of invalid files. */
export function readFiles(faults: PlanFaults, plan: object): Map<string, PlanFile> {
  const entries = entriesOf(faults, plan, [], 'Files');
  if (entries.length > executionLimits.files) {
    faults.add(2, ['Files'], 'field_too_many', { maximum: executionLimits.files });
    return new Map();
  }
  return new Map(
    entries.flatMap(([id, value]): [string, PlanFile][] => {
      const file = readFile(faults, value, ['Files', id]);
      return file === null ? [] : [[id, file]];
    }),
  );
}

/** Reads one file of a plan or of `api.addFile`. If the file is invalid, adds its faults and returns null. */
export function readFile(faults: PlanFaults, value: unknown, path: Path): PlanFile | null {
  if (!isObject(value)) {
    faults.add(2, path, 'field_not_object');
    return null;
  }
  const before = faults.all.length;
  const name = textOf(faults, value, path, 'Name', true);
  if (name !== null && !isFileName(name)) faults.add(2, [...path, 'Name'], 'plan_file_name');
  const type = textOf(faults, value, path, 'BodyType', true);
  const bodyType = bodyTypes.find((known) => known === type) ?? null;
  if (type !== null && bodyType === null) {
    faults.add(2, [...path, 'BodyType'], 'field_choice', { choices: bodyTypes.join(', ') });
  }
  const body = textOf(faults, value, path, 'Body', true);
  if (body !== null && bodyType !== null) checkBody(faults, bodyType, body, [...path, 'Body']);
  const sha256 = textOf(faults, value, path, 'Sha256');
  if (sha256 !== null && !/^[0-9a-f]{64}$/i.test(sha256)) faults.add(2, [...path, 'Sha256'], 'field_format');
  if (name === null || bodyType === null || body === null || faults.all.length > before) return null;
  return { name, bodyType, body, sha256: sha256?.toLowerCase() ?? null };
}

/**
 * Whether a text is the name of a file below the script's folder: relative, with `/` between its parts, and without
 * `.`, `..`, empty parts, backslashes, drive letters or control characters.
 */
export function isFileName(name: string): boolean {
  if (utf8Bytes(name) > executionLimits.fileNameBytes || hasControl(name)) return false;
  if (name.includes('\\') || /^[A-Za-z]:/.test(name)) return false;
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Whether a text is base64. Ignores spaces, tabs and line breaks. */
export function isBase64(text: string): boolean {
  const packed = text.replaceAll(/[ \t\r\n]/g, '');
  return packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed);
}

function checkBody(faults: PlanFaults, type: BodyType, body: string, path: Path): void {
  if (type === 'Base64' && !isBase64(body)) faults.add(2, path, 'plan_base64');
  if (type === 'URI' && !/^https?:$/.test(URL.parse(body)?.protocol ?? '')) faults.add(2, path, 'plan_uri');
  if (type === 'ID') {
    if (body === '') faults.add(2, path, 'field_empty');
    else if (hasControl(body)) faults.add(2, path, 'field_format');
    else if (utf8Bytes(body) > executionLimits.idBytes) {
      faults.add(2, path, 'field_too_long', { maximum: executionLimits.idBytes });
    }
  }
}
