import { hash as digest } from 'node:crypto';
import type { z } from 'zod';
import type { RefusedFile } from '#db/schema/index.ts';
import { type DocumentLimits, type ProtocolFault, read } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';
import type { MessageMatcher, RecoveryBudget } from '#server/domain/localization/index.ts';

/**
 * Matchers that recover message ids, by extension. Only the parsed document gets these ids; the raw document is stored
 * as it was sent.
 */
export type Recover = ReadonlyMap<string, MessageMatcher>;

/** An entry whose file is invalid. The paths of its faults are paths within the file. */
export interface RejectedEntry {
  kind: 'heartbeat' | 'status';
  name: string;
  /** The status's sequence number; null for a heartbeat. */
  sequenceNumber: number | null;
  readSecondsAgo: number;
  faults: RefusedFile['faults'];
}

/** A report whose entries are being parsed. */
export interface Reading {
  limits: DocumentLimits;
  recover: Recover;
  room: RecoveryBudget;
  faults: Fault[];
  refused: RejectedEntry[];
}

/** Returns 128 bits of the document's SHA-256 as a UUID. */
export const fingerprint = (document: unknown): string => {
  const hex = digest('sha256', JSON.stringify(document), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

/** Parses a part of the report. If it is invalid, returns null and adds its faults below `path`. */
export function take<S extends z.ZodType>(
  schema: S,
  input: unknown,
  path: string,
  { faults }: Reading,
  onFaults?: (faults: ProtocolFault[]) => void,
): z.output<S> | null {
  const result = read(schema, input);
  if ('value' in result) return result.value;
  faults.push(...result.faults.map((fault) => ({ ...fault, path: `${path}${fault.path}` })));
  onFaults?.(result.faults);
  return null;
}

/** Maximum number of stored faults per rejected file; a few are enough to correct it. */
const keptFaults = 5;
/** Maximum length of a stored fault's path. */
const keptPath = 256;

/** Keeps the faults of an invalid file for `storeRejectedFiles`, unless other fields of the entry are invalid too. */
export function refuse(
  { refused }: Reading,
  kind: RejectedEntry['kind'],
  entry: { extension: string; sequenceNumber?: number; readSecondsAgo: number } | null,
  faults: readonly ProtocolFault[],
): void {
  if (entry === null) return;
  const { extension: name, sequenceNumber = null, readSecondsAgo } = entry;
  const kept = faults.slice(0, keptFaults).map((fault) => ({ ...fault, path: fault.path.slice(0, keptPath) }));
  refused.push({ kind, name, sequenceNumber, readSecondsAgo, faults: kept });
}
