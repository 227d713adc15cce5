import { hash as digest } from 'node:crypto';
import type { z } from 'zod';
import type { RefusedFile } from '#db/schema/index.ts';
import {
  type DocumentLimits,
  type HandlerReport,
  type HeartbeatDocument,
  handlerEntryWith,
  heartbeatEntry,
  heartbeatFileWith,
  isPlainObject,
  maxFaults,
  type ProtocolFault,
  plainHeartbeat,
  plainStatus,
  pointer,
  type ReportEnvelope,
  read,
  reportEnvelope,
  type StatusDocument,
  statusEntry,
  statusFileWith,
} from '#protocol/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import {
  type MessageMatcher,
  type RecoveryRoom,
  recoverHeartbeat,
  recoverStatus,
  recoveryRoom,
} from '#server/domain/localization/index.ts';
import { memoize } from '#server/platform/memoize.ts';

interface EntryBase {
  /** JSON pointer into the report. */
  path: string;
  /** The extension. */
  name: string;
  /** As it was sent. */
  raw: Record<string, unknown>;
  /** Fingerprint of what is shown of it: equal documents have equal ones. */
  hash: string;
}

export interface FileReading {
  ageSeconds: number;
  readSecondsAgo: number;
}

export type ReportEntry = EntryBase &
  (
    | { kind: 'handler'; sequenceNumber: number; report: HandlerReport }
    | (FileReading & { kind: 'heartbeat'; sequenceNumber: null; document: HeartbeatDocument })
    | (FileReading & { kind: 'status'; sequenceNumber: number; document: StatusDocument })
  );

/** An entry whose file breaks the contract; `faults` have their paths within the file. */
export interface RefusedEntry {
  kind: 'heartbeat' | 'status';
  name: string;
  /** Of a status. */
  sequenceNumber: number | null;
  readSecondsAgo: number;
  faults: RefusedFile['faults'];
}

export type EntryOf<K extends ReportEntry['kind']> = Extract<ReportEntry, { kind: K }>;

interface Schemas {
  handler: ReturnType<typeof handlerEntryWith>;
  heartbeatFile: ReturnType<typeof heartbeatFileWith>;
  statusFile: ReturnType<typeof statusFileWith>;
}

/** What reading an entry takes. */
interface Reading {
  schemas: Schemas;
  limits: DocumentLimits;
  recover: Recover;
  room: RecoveryRoom;
  refused: RefusedEntry[];
}

// Schemas cost more to build than to run; limits are created once per process.
const schemasFor = memoize(
  (limits: DocumentLimits): Schemas => ({
    handler: handlerEntryWith(limits),
    heartbeatFile: heartbeatFileWith(limits),
    statusFile: statusFileWith(limits),
  }),
);

/** Parts of the frame that a report can do without: a fault of theirs costs no entry. */
const dispensable = ['agentTime', 'appliedEtag', 'periods', 'problems', 'pendingRestart'];

function readFrame(report: unknown): { envelope: ReportEnvelope | null; faults: Fault[] } {
  const frame = read(reportEnvelope, report);
  if ('value' in frame) return { envelope: frame.value, faults: [] };
  const wrong = new Set(frame.faults.map(({ path }) => path.split('/')[1] ?? ''));
  const rest = isPlainObject(report) ? Object.entries(report).filter(([name]) => !wrong.has(name)) : [];
  const fatal = !isPlainObject(report) || [...wrong].some((name) => !dispensable.includes(name));
  return { envelope: fatal ? null : reportEnvelope.parse(Object.fromEntries(rest)), faults: frame.faults };
}

/** Finds message ids again, by extension; what was sent stays as it was. */
type Recover = ReadonlyMap<string, MessageMatcher>;

/**
 * Reads a report entry by entry: the good ones, and every fault of the others. Throws 400 where the frame itself is
 * wrong (the entries' faults come along), 413 where there are too many entries.
 */
export function readReport(
  report: unknown,
  limits: DocumentLimits & { entries: number },
  recover: Recover = new Map(),
): { envelope: ReportEnvelope; entries: ReportEntry[]; refused: RefusedEntry[]; faults: Fault[] } {
  const { envelope, faults } = readFrame(report);
  const lists = isPlainObject(report) ? report : {};
  const count = ['handlers', 'heartbeats', 'statuses'].reduce((sum, name) => sum + listOf(lists[name]).length, 0);
  if (count > limits.entries) {
    throw new DomainError('too_large', 'report_entries_too_many', { params: { limit: limits.entries } });
  }
  const schemas = schemasFor(limits);
  const entries: ReportEntry[] = [];
  const each = (list: string, readEntry: (raw: unknown, path: string, faults: Fault[]) => ReportEntry | null): void => {
    listOf(lists[list]).forEach((raw, index) => {
      const entry = readEntry(raw, pointer([list, index]), faults);
      if (entry) entries.push(entry);
    });
  };
  each('handlers', (raw, path) => readHandler(schemas, raw, path, faults));
  const refused: RefusedEntry[] = [];
  const reading = { schemas, limits, recover, room: recoveryRoom(), refused };
  each('heartbeats', (raw, path) => readHeartbeat(reading, raw, path, faults));
  each('statuses', (raw, path) => readStatus(reading, raw, path, faults));
  const shown = faults.slice(0, maxFaults);
  if (envelope === null) throw new DomainError('bad_request', 'report_invalid', { faults: shown });
  return { envelope, entries, refused, faults: shown };
}

/** 128 bits of the document's SHA-256, in the form of a UUID. */
const fingerprint = (document: unknown): string => {
  const hex = digest('sha256', JSON.stringify(document), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The value, or null with the faults put below their path. `onFaults` gets them as they are. */
function take<S extends z.ZodType>(
  schema: S,
  input: unknown,
  path: string,
  faults: Fault[],
  onFaults?: (faults: ProtocolFault[]) => void,
): z.output<S> | null {
  const result = read(schema, input);
  if ('value' in result) return result.value;
  faults.push(...result.faults.map((fault) => ({ ...fault, path: `${path}${fault.path}` })));
  onFaults?.(result.faults);
  return null;
}

/** Faults kept per rejected file. A few are enough to mend it. */
const keptFaults = 5;
/** Characters of a fault's path that are kept. */
const keptPath = 256;

/** Remembers a file that breaks the contract, if its entry says whose it is. */
function refuse(
  { refused }: Reading,
  kind: RefusedEntry['kind'],
  entry: { extension: string; sequenceNumber?: number; readSecondsAgo: number } | null,
  faults: readonly ProtocolFault[],
): void {
  if (entry === null) return;
  const { extension: name, sequenceNumber = null, readSecondsAgo } = entry;
  const kept = faults.slice(0, keptFaults).map((fault) => ({ ...fault, path: fault.path.slice(0, keptPath) }));
  refused.push({ kind, name, sequenceNumber, readSecondsAgo, faults: kept });
}

function readHandler(schemas: Schemas, raw: unknown, path: string, faults: Fault[]): ReportEntry | null {
  const entry = take(schemas.handler, raw, path, faults);
  if (entry === null) return null;
  const { extension: name, ...rest } = entry;
  const report: HandlerReport = rest;
  const { sequenceNumber } = report;
  const hash = fingerprint(report);
  return { kind: 'handler', path, name, sequenceNumber, report, hash, raw: raw as Record<string, unknown> };
}

function readHeartbeat(reading: Reading, raw: unknown, path: string, faults: Fault[]): ReportEntry | null {
  const { schemas, limits, recover, room } = reading;
  const entry = take(heartbeatEntry, raw, path, faults);
  const file = isPlainObject(raw) ? raw.file : undefined;
  const document = isPlainObject(raw)
    ? (plainHeartbeat(file, limits) ??
      take(schemas.heartbeatFile, file, `${path}/file`, faults, (found) => refuse(reading, 'heartbeat', entry, found)))
    : null;
  if (entry === null || document === null) return null;
  const { extension: name, ageSeconds, readSecondsAgo } = entry;
  const ages = { ageSeconds, readSecondsAgo };
  recoverHeartbeat(document, recover.get(name), room);
  const hash = fingerprint(document);
  return { kind: 'heartbeat', path, name, sequenceNumber: null, ...ages, document, hash, raw: raw as typeof entry };
}

function readStatus(reading: Reading, raw: unknown, path: string, faults: Fault[]): ReportEntry | null {
  const { schemas, limits, recover, room } = reading;
  const entry = take(statusEntry, raw, path, faults);
  const file = isPlainObject(raw) ? raw.file : undefined;
  const document = isPlainObject(raw)
    ? (plainStatus(file, limits) ??
      take(schemas.statusFile, file, `${path}/file`, faults, (found) => refuse(reading, 'status', entry, found)))
    : null;
  if (entry === null || document === null) return null;
  const { extension: name, sequenceNumber, ageSeconds, readSecondsAgo } = entry;
  const ages = { ageSeconds, readSecondsAgo };
  recoverStatus(document, recover.get(name), room);
  const hash = fingerprint(document);
  return { kind: 'status', path, name, sequenceNumber, ...ages, document, hash, raw: raw as typeof entry };
}
