import type { ExtensionGoal, extensionLatest, extensionPulse } from '#db/schema/index.ts';
import type { Reading } from './reading.ts';

export type PulseRow = typeof extensionPulse.$inferSelect;
export type LatestRow = typeof extensionLatest.$inferSelect;

/** What entries of all kinds have. */
export interface EntryBase {
  /** JSON pointer into the report. */
  path: string;
  /** The extension. */
  name: string;
  /** As it was sent. */
  raw: Record<string, unknown>;
  /** Fingerprint of the document as it is shown: equal documents have equal ones. */
  hash: string;
  /** Null for a kind without one. */
  sequenceNumber: number | null;
}

/** The result of merging an entry into its extension. */
export interface Merged {
  row: PulseRow;
  /** It is shown from now on; a late or void one is only kept. */
  current: boolean;
  /** This document is not in the history yet. */
  news: boolean;
  /** A reader would see a difference. */
  visible: boolean;
}

export interface MergeContext {
  goal: { state: ExtensionGoal; sequenceNumber: number };
  receivedAt: Date;
  periods: { heartbeatSeconds: number; statusSeconds: number };
}

/** The document that is shown, with when it was received or read. */
export interface ShownDocument {
  document: object | null;
  at: Date | null;
  sequenceNumber: number | null;
}

/**
 * A kind's part of the statement for a batch. Conditions and values name columns of the rows `pair` (an entry with its
 * previous pulse, `was_…`, and `goal_sequence`) and `judged` (the same rows once the report is accepted).
 */
export interface BatchSql {
  /** Columns of the entry as JSON, with their types. All are null without an entry of this kind. */
  columns: Readonly<Record<string, string>>;
  /** Columns of `pair` with the previous pulse `u`. */
  was: readonly string[];
  /** The column with the sequence number; null for a kind without one. */
  sequence: string | null;
  /** Further columns of `pair`. */
  pair: readonly string[];
  /** When a batch must leave the report to the careful path; null for never. */
  careful: string | null;
  /** Further columns of `judged`. */
  judged: readonly string[];
  /** Assignments to the pulse `u` from `j`, and when there is something to write. */
  pulse: { set: readonly string[]; where: string };
  /** Assignments to the newest documents `l` from `j`, and when there is something to write. */
  latest: { set: readonly string[]; where: string };
  /** When the document belongs in the history. */
  history: string;
  /** Further conditions, beside a new document, under which a reader sees a difference. */
  visible: readonly string[];
}

/** One kind of report entry: how it is read, merged, stored by both paths, and shown. */
export interface EntryKind<E extends EntryBase & { kind: string }> {
  kind: E['kind'];
  /** The report's list of such entries. */
  list: string;
  /** Reads an entry; null for an invalid one, whose faults `reading` gets. */
  read(reading: Reading, raw: unknown, path: string): E | null;
  /** Its columns of the pulse before the first report. */
  emptyPulse: Partial<PulseRow>;
  /** Puts an entry on top of what is shown, or finds that it is history. Its sequence number is not above the goal's. */
  merge(row: PulseRow, entry: E, context: MergeContext): Merged;
  /** The document that is shown. */
  document(entry: E): object;
  /** The careful path's columns for that document. */
  latestColumns(entry: E, receivedAt: Date): Partial<LatestRow>;
  /** The batch's columns, as `sql.columns` names them. */
  batchColumns(entry: E, receivedAt: Date): Record<string, unknown>;
  sql: BatchSql;
  /** The document as it is stored. */
  shown(latest: LatestRow, pulse: PulseRow): ShownDocument;
}

/** An entry that is only kept. */
export const history = (row: PulseRow): Merged => ({ row, current: false, news: true, visible: false });

/** SQL: the columns of a kind's entries, as a record of JSON declares them. */
export const declaredColumns = ({ sql }: { sql: BatchSql }): string =>
  Object.entries(sql.columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ');
