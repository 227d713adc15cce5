import { type HandlerManifest, manifestFileName, readManifest } from '#protocol/manifest.ts';
import { decodeUtf8, parseJson } from '#server/platform/json.ts';
import type { Findings } from './finding.ts';

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
