import { type DocumentLimits, type HandlerReport, handlerEntryWith } from '#protocol/index.ts';
import { memoize } from '#server/platform/memoize.ts';
import { type EntryBase, type EntryKind, history, type MergeContext, type Merged, type PulseRow } from './kind.ts';
import { fingerprint, type Reading, take } from './reading.ts';

/** An entry with the state of a handler. */
export interface HandlerReportEntry extends EntryBase {
  kind: 'handler';
  sequenceNumber: number;
  report: HandlerReport;
}

// Building a schema costs more than running it, so schemas are memoized by limits, which are created once per process.
const schemaFor = memoize((limits: DocumentLimits) => handlerEntryWith(limits));

function read(reading: Reading, raw: unknown, path: string): HandlerReportEntry | null {
  const entry = take(schemaFor(reading.limits), raw, path, reading);
  if (entry === null) return null;
  const { extension: name, ...rest } = entry;
  const report: HandlerReport = rest;
  const { sequenceNumber } = report;
  const hash = fingerprint(report);
  return { kind: 'handler', path, name, sequenceNumber, report, hash, raw: raw as Record<string, unknown> };
}

/**
 * Whether the entry reports a removal that counts. A removal counts only while the goal is `uninstall`, and only for
 * the goal's sequence number.
 */
export function isRemoval(entry: EntryBase & { kind: string }, goal: MergeContext['goal']): boolean {
  if (!isHandler(entry) || entry.report.state !== 'removed') return false;
  return goal.state === 'uninstall' && entry.sequenceNumber === goal.sequenceNumber;
}

const isHandler = (entry: EntryBase & { kind: string }): entry is HandlerReportEntry => entry.kind === 'handler';

function merge(row: PulseRow, entry: HandlerReportEntry, { goal }: MergeContext): Merged {
  if (entry.report.state === 'removed' && !isRemoval(entry, goal)) return history(row);
  if (row.handlerSequence !== null && entry.sequenceNumber < row.handlerSequence) return history(row);
  if (row.handlerHash === entry.hash) return { row, current: true, news: false, visible: false };
  const next = { ...row, handlerSequence: entry.sequenceNumber, handlerHash: entry.hash };
  return { row: next, current: true, news: true, visible: true };
}

export const handler = {
  kind: 'handler',
  list: 'handlers',
  read,
  emptyPulse: { handlerSequence: null, handlerHash: null },
  merge,
  document: ({ report }) => report,
  latestColumns: ({ report }, receivedAt) => ({ handlerState: report, handlerAt: receivedAt }),
  batchColumns: ({ hash, sequenceNumber }) => ({ handler_hash: hash, handler_sequence: sequenceNumber }),
  sql: {
    columns: { handler_hash: 'uuid', handler_sequence: 'bigint' },
    was: ['u.handler_hash as was_handler_hash', 'u.handler_sequence as was_handler_sequence'],
    sequence: 'handler_sequence',
    pair: ['coalesce(handler_sequence < was_handler_sequence, false) as handler_late'],
    careful: 'pair.handler_late',
    judged: ['handler_hash is not null and was_handler_hash is distinct from handler_hash as handler_news'],
    pulse: {
      set: [
        'handler_sequence = case when j.handler_news then j.handler_sequence else u.handler_sequence end',
        'handler_hash = case when j.handler_news then j.handler_hash else u.handler_hash end',
      ],
      where: 'j.handler_news',
    },
    latest: {
      set: [
        'handler_state = case when j.handler_news then j.handler::json else l.handler_state end',
        'handler_at = case when j.handler_news then j.at else l.handler_at end',
      ],
      where: 'j.handler_news',
    },
    history: 'handler_news',
    visible: [],
  },
  shown: ({ handlerState, handlerAt }, { handlerSequence }) => ({
    document: handlerState,
    at: handlerAt,
    sequenceNumber: handlerSequence,
  }),
} satisfies EntryKind<HandlerReportEntry>;
