import { hash as digest } from 'node:crypto';
import type { z } from 'zod';
import type { RefusedFile } from '#db/schema/index.ts';
import { type DocumentLimits, type ProtocolFault, read } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';
import type { MessageMatcher, RecoveryBudget } from '#server/domain/localization/index.ts';

/** Finds message ids again, by extension; the document as it was sent stays unchanged. */
export type Recover = ReadonlyMap<string, MessageMatcher>;

/** An entry whose file breaks the contract; `faults` have their paths within the file. */
export interface RejectedEntry {
  kind: 'heartbeat' | 'status';
  name: string;
  /** Of a status. */
  sequenceNumber: number | null;
  readSecondsAgo: number;
  faults: RefusedFile['faults'];
}

/** One report while its entries are read. */
export interface Reading {
  limits: DocumentLimits;
  recover: Recover;
  room: RecoveryBudget;
  /** Every fault so far. */
  faults: Fault[];
  refused: RejectedEntry[];
}

/** 128 bits of the document's SHA-256, in the form of a UUID. */
export const fingerprint = (document: unknown): string => {
  const hex = digest('sha256', JSON.stringify(document), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

/** Parses a part of the report. Returns null for an invalid one; its faults are added below `path`. */
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

/** Faults kept per rejected file: a few are enough to correct it. */
const keptFaults = 5;
/** Characters of a fault's path that are kept. */
const keptPath = 256;

/** Keeps the faults of a file that breaks the contract, if its entry names the extension. */
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
