import { pointerPath } from '#protocol/pointer.ts';

/** A fault or warning about a package, with its position. */
export interface PackageFinding {
  status: 'failed' | 'warning';
  /** Name of a file, or `HandlerManifest.json#/pointer`; empty for the package as a whole. */
  path: string;
  code: string;
  /** In the reader's language. */
  message: string;
}

export const manifestName = 'HandlerManifest.json';

/** Faults of a rejected package or warnings of a version, as findings. */
export function findingsOf(
  status: PackageFinding['status'],
  list: readonly { path?: string; code: string; message: string }[],
): PackageFinding[] {
  return list.map(({ path = '', code, message }) => ({ status, path, code, message }));
}

/** Target of the count at the top. */
export const firstFindingId = 'first-finding';

/** The file that a finding is about, without the position in it. */
export function fileOf({ path }: PackageFinding): string {
  const hash = path.indexOf('#');
  return hash < 0 ? path : path.slice(0, hash);
}

/** Whether it belongs to a line of the manifest, not to the file as an entry of the zip. */
export function isInManifest(finding: PackageFinding): boolean {
  return fileOf(finding) === manifestName && !finding.code.startsWith('entry_') && finding.code !== 'manifest_absent';
}

/** The 1-based line of the manifest for a finding; the last line for what is missing. */
export function lineOf(text: string, { path, code, message }: PackageFinding): number {
  const lines = text.trimEnd().split('\n');
  if (code === 'json_malformed') return Math.min(lines.length, Number(/\d+/.exec(message)?.[0] ?? 1));
  const keys = pointerPath(path.slice(path.indexOf('#') + 1));
  let at = 0;
  let found = 1;
  for (const key of keys) {
    if (/^\d+$/.test(key)) continue;
    const next = lines.findIndex((line, index) => index >= at && line.includes(JSON.stringify(key)));
    if (next < 0) return lines.length;
    at = next;
    found = next + 1;
  }
  return found;
}
