import type { ExtensionGoal, extensionLatest, extensionPulse } from '#db/schema/index.ts';
import type { Reading } from './reading.ts';

export type PulseRow = typeof extensionPulse.$inferSelect;
export type LatestRow = typeof extensionLatest.$inferSelect;

/** Fields that all kinds of entries have. */
export interface EntryBase {
  /** JSON pointer to the entry in the report. */
  path: string;
  /** Name of the extension. */
  name: string;
  /** The entry as the agent sent it. */
  raw: Record<string, unknown>;
  /** Fingerprint of the parsed document. Equal documents have the same fingerprint. */
  hash: string;
  /** Null for kinds without a sequence number. */
  sequenceNumber: number | null;
}

/** The result of merging an entry into its extension. */
export interface Merged {
  row: PulseRow;
  /** Whether the entry is shown from now on. A late entry is only stored. */
  current: boolean;
  /** Whether the document may be missing from the history. */
  news: boolean;
  /** Whether users would see a difference. */
  visible: boolean;
}

export interface MergeContext {
  goal: { state: ExtensionGoal; sequenceNumber: number };
  receivedAt: Date;
  periods: { heartbeatSeconds: number; statusSeconds: number };
}

/** The document that is shown, and when it was received or read. */
export interface ShownDocument {
  document: object | null;
  at: Date | null;
  sequenceNumber: number | null;
}

/**
 * The parts of a kind for the batch statement. Conditions and values refer to columns of the rows `pair` (an entry with
 * its previous pulse, `was_…`, and `goal_sequence`) and `judged` (the same rows after the report is accepted).
 */
export interface BatchSql {
  /** The entry's columns in the JSON, with their types. All are null if there is no entry of this kind. */
  columns: Readonly<Record<string, string>>;
  /** Columns of `pair` with values of the previous pulse `u`. */
  was: readonly string[];
  /** The column with the sequence number; null if the kind has none. */
  sequence: string | null;
  /** Further columns of `pair`. */
  pair: readonly string[];
  /** Condition under which a batch must leave the report to the careful path; null if there is none. */
  careful: string | null;
  /** Further columns of `judged`. */
  judged: readonly string[];
  /** Assignments from `j` to the pulse `u`, and the condition under which they change something. */
  pulse: { set: readonly string[]; where: string };
  /** Assignments from `j` to the newest documents `l`, and the condition under which they change something. */
  latest: { set: readonly string[]; where: string };
  /** Condition under which the document belongs in the history. */
  history: string;
  /** Conditions under which users see a difference, in addition to a new document. */
  visible: readonly string[];
}

/** One kind of report entry: how it is parsed, merged, stored (in a batch or by the careful path) and shown. */
export interface EntryKind<E extends EntryBase & { kind: string }> {
  kind: E['kind'];
  /** Name of the list in the report that contains the entries of this kind. */
  list: string;
  /** Parses an entry. If it is invalid, returns null and adds its faults to `reading`. */
  read(reading: Reading, raw: unknown, path: string): E | null;
  /** Values of the kind's pulse columns before the first report. */
  emptyPulse: Partial<PulseRow>;
  /**
   * Merges an entry into the state that pages show, or decides that it only belongs in the history. The entry's
   * sequence number must not be above the goal's.
   */
  merge(row: PulseRow, entry: E, context: MergeContext): Merged;
  /** Returns the entry's document, as it is stored and shown. */
  document(entry: E): object;
  /** Returns the columns that store the document, for the careful path. */
  latestColumns(entry: E, receivedAt: Date): Partial<LatestRow>;
  /** Returns the values of the columns in `sql.columns` for the batch. */
  batchColumns(entry: E, receivedAt: Date): Record<string, unknown>;
  sql: BatchSql;
  /** Returns the stored document. */
  shown(latest: LatestRow, pulse: PulseRow): ShownDocument;
}

/** The result for an entry that is stored but not shown. */
export const history = (row: PulseRow): Merged => ({ row, current: false, news: true, visible: false });

/** SQL that declares the columns of a kind's entries for a JSON record. */
export const declaredColumns = ({ sql }: { sql: BatchSql }): string =>
  Object.entries(sql.columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ');
