import { metadataFileName } from '#protocol/formula-words.ts';
import { pointerPath } from '#protocol/pointer.ts';

/** A fault or warning about a package, and its position. */
export interface PackageFinding {
  status: 'failed' | 'warning';
  /** Path of a file, or `HandlerManifest.json#/pointer`; empty for the package as a whole. */
  path: string;
  code: string;
  /** A sentence in the reader's language. */
  message: string;
}

/** The names of manifests: of handlers, and of formulas. */
const manifestNames = ['HandlerManifest.json', metadataFileName];

/** Returns the name of the manifest that the files of a package or its findings name. */
export function manifestNameOf(files: readonly { name: string }[], findings: readonly PackageFinding[]): string {
  const names = new Set([...files.map(({ name }) => name), ...findings.map(fileOf)]);
  return manifestNames.find((name) => names.has(name)) ?? 'HandlerManifest.json';
}

/** Converts the faults of a rejected package, or the warnings of a version, to findings. */
export function findingsOf(
  status: PackageFinding['status'],
  list: readonly { path?: string; code: string; message: string }[],
): PackageFinding[] {
  return list.map(({ path = '', code, message }) => ({ status, path, code, message }));
}

/** Id of the element that the count at the top links to. */
export const firstFindingId = 'first-finding';

/** Returns the file that a finding is about, without the position in the file. */
export function fileOf({ path }: PackageFinding): string {
  const hash = path.indexOf('#');
  return hash < 0 ? path : path.slice(0, hash);
}

const aboutTheFile = ['manifest_absent', 'metadata_absent', 'package_is_formula', 'package_is_handler'];

/** Whether a finding is about a line of the manifest, rather than about the manifest as a file in the zip. */
export function isInManifest(finding: PackageFinding): boolean {
  const isAbout = manifestNames.includes(fileOf(finding)) && !finding.code.startsWith('entry_');
  return isAbout && !aboutTheFile.includes(finding.code);
}

/**
 * Returns the line of the manifest that a finding is about, counted from 1; the last line if the finding is about
 * something missing. The sentence of a finding about the syntax names its line first.
 */
export function lineOf(text: string, { path, code, message }: PackageFinding): number {
  const lines = text.trimEnd().split('\n');
  if (code === 'json_malformed' || code.startsWith('yaml_')) {
    return Math.min(lines.length, Number(/\d+/.exec(message)?.[0] ?? 1));
  }
  const isYaml = path.startsWith(metadataFileName);
  const keys = pointerPath(path.slice(path.indexOf('#') + 1));
  let at = 0;
  let found = 1;
  for (const key of keys) {
    if (/^\d+$/.test(key)) continue;
    const next = lines.findIndex((line, index) => index >= at && line.includes(isYaml ? key : JSON.stringify(key)));
    if (next < 0) return lines.length;
    at = next;
    found = next + 1;
  }
  return found;
}
