import { type HandlerManifest, manifestFileName, readManifest } from '#protocol/manifest.ts';
import { decodeUtf8, parseJson } from '#server/platform/json.ts';
import type { Findings } from './finding.ts';
import type { PlacedEntry } from './placed-entry.ts';

/**
 * Finds the manifest in the root of the package. If there is none, adds a fault for each manifest that is in a folder
 * or is spelled differently, or a fault for the missing manifest (AZ-P2).
 */
export function findManifest(placed: readonly PlacedEntry[], faults: Findings): PlacedEntry | null {
  const root = placed.find(({ name }) => name === manifestFileName);
  if (root !== undefined) return root;
  const wanted = manifestFileName.toLowerCase();
  const elsewhere = placed.filter(({ name }) => (name ?? '').split(/[/\\]/).at(-1)?.toLowerCase() === wanted);
  for (const { entry, name } of elsewhere) {
    const slash = Math.max((name ?? '').lastIndexOf('/'), (name ?? '').lastIndexOf('\\'));
    if (slash < 0) faults.add(entry.shown, 'manifest_spelling');
    else faults.add(entry.shown, 'manifest_in_folder', { folder: entry.shown.slice(0, slash) });
  }
  if (elsewhere.length === 0) faults.add(manifestFileName, 'manifest_absent');
  return null;
}

export interface ParsedManifest {
  /** Null if the manifest has faults. */
  manifest: HandlerManifest | null;
  /** The parsed JSON; undefined if the text is not JSON. */
  value: unknown;
}

/** Parses the manifest of a package, and adds every fault of its text and fields (AZ-P3). */
export function parseManifest(bytes: Buffer, maxDepth: number, faults: Findings): ParsedManifest {
  const at = (pointer: string) => (pointer === '' ? manifestFileName : `${manifestFileName}#${pointer}`);
  const json = parseJson(bytes, { maxDepth });
  for (const { path, code, params } of json.faults) faults.add(at(path), code, params);
  if (json.fault !== null) return { manifest: null, value: undefined };
  const result = readManifest(json.value);
  if ('manifest' in result) return { manifest: result.manifest, value: json.value };
  for (const { path, code, params } of result.faults) faults.add(at(path), code, params);
  return { manifest: null, value: json.value };
}

/** Returns the text of the manifest without a byte-order mark. The bytes must have passed `parseManifest`. */
export function manifestTextOf(bytes: Buffer): string {
  return (decodeUtf8(bytes) ?? '').replace(/^\ufeff/, '');
}
