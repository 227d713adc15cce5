import {
  type DocumentLimits,
  isPlainObject,
  plainStatus,
  type StatusDocument,
  statusEntry,
  statusFileWith,
} from '#protocol/index.ts';
import { recoverStatus } from '#server/domain/localization/index.ts';
import { graceSeconds, staleFileSeconds, staleFor } from '#server/domain/verdicts/index.ts';
import { memoize } from '#server/platform/memoize.ts';
import { elapsed, type FileReading, type ReadingColumns, readAt, wentBack, wentBackSql } from './file-reading.ts';
import { type EntryBase, type EntryKind, history, type MergeContext, type Merged, type PulseRow } from './kind.ts';
import { fingerprint, type Reading, refuse, take } from './reading.ts';

/** An entry with a status file (AZ-S1). */
export interface StatusReportEntry extends EntryBase, FileReading {
  kind: 'status';
  sequenceNumber: number;
  document: StatusDocument;
}

// Building a schema costs more than running it, so schemas are memoized by limits, which are created once per process.
const fileSchemaFor = memoize((limits: DocumentLimits) => statusFileWith(limits));

function read(reading: Reading, raw: unknown, path: string): StatusReportEntry | null {
  const { limits, recover, room } = reading;
  const entry = take(statusEntry, raw, path, reading);
  const file = isPlainObject(raw) ? raw.file : undefined;
  const document = isPlainObject(raw)
    ? (plainStatus(file, limits) ??
      take(fileSchemaFor(limits), file, `${path}/file`, reading, (found) => refuse(reading, 'status', entry, found)))
    : null;
  if (entry === null || document === null) return null;
  const { extension: name, sequenceNumber, ageSeconds, readSecondsAgo } = entry;
  const ages = { ageSeconds, readSecondsAgo };
  recoverStatus(document, recover.get(name), room);
  const hash = fingerprint(document);
  return { kind: 'status', path, name, sequenceNumber, ...ages, document, hash, raw: raw as typeof entry };
}

type StoredStatus = Pick<PulseRow, 'statusWord' | 'statusReadAt' | 'statusAgeSeconds'>;

/** Returns the stored status in the form that the rules in `verdicts` need; null if there is none. */
export function statusReading({ statusWord, statusReadAt, statusAgeSeconds }: StoredStatus) {
  if (statusWord === null || statusReadAt === null || statusAgeSeconds === null) return null;
  return { status: statusWord, readAt: statusReadAt, ageSeconds: statusAgeSeconds };
}

/**
 * Shows the highest sequence number and, within that number, the newest report (AZ-S3). Once the goal has a newer
 * sequence number, late reports of the previous number are not shown. The first success or error of a sequence number
 * concludes it.
 */
function merge(row: PulseRow, entry: StatusReportEntry, { goal, receivedAt, periods }: MergeContext): Merged {
  const { sequenceNumber, document, hash } = entry;
  const shown = row.statusSequence;
  const same = shown === sequenceNumber && row.statusHash === hash;
  if (
    shown !== null &&
    (sequenceNumber < shown || (sequenceNumber === shown && sequenceNumber < goal.sequenceNumber))
  ) {
    return same ? { row, current: false, news: false, visible: false } : history(row);
  }
  const conclusion = document.status === 'success' || document.status === 'error' ? document.status : null;
  const concluded = shown === sequenceNumber ? row : { concludedAt: null, concludedWith: null };
  const next: PulseRow = {
    ...row,
    statusHash: hash,
    statusSequence: sequenceNumber,
    statusWord: document.status,
    statusReadAt: readAt(entry, receivedAt),
    statusAgeSeconds: entry.ageSeconds,
    concludedAt: concluded.concludedAt ?? (conclusion && receivedAt),
    concludedWith: concluded.concludedWith ?? conclusion,
  };
  const stale = (of: PulseRow): boolean => {
    const reading = statusReading(of);
    return reading !== null && staleFor(reading, periods.statusSeconds, receivedAt) !== null;
  };
  const back = wentBack(statusReading(row), statusReading(next));
  return { row: next, current: true, news: !same, visible: !same || back || stale(row) !== stale(next) };
}

const before = { word: 'was_status_word', readAt: 'was_status_read_at', age: 'was_status_age' };
const now = { word: 'status_word', readAt: 'status_read_at', age: 'status_age' };

/** SQL for whether `staleFor` of verdicts/rules.ts returns a number at time `at`. A test compares the two. */
const staleSql = (of: ReadingColumns): string => `coalesce(${of.word} not in ('success', 'error') and (
    ${elapsed(of)} > status_period + ${graceSeconds}
    or ${of.age} > ${staleFileSeconds}), false)`;

export const status = {
  kind: 'status',
  list: 'statuses',
  read,
  emptyPulse: {
    statusHash: null,
    statusSequence: null,
    statusWord: null,
    statusReadAt: null,
    statusAgeSeconds: null,
    concludedAt: null,
    concludedWith: null,
  },
  merge,
  document: ({ document }) => document,
  latestColumns: ({ document }) => ({ status: document }),
  batchColumns: (entry, receivedAt) => ({
    status_hash: entry.hash,
    status_sequence: entry.sequenceNumber,
    status_word: entry.document.status,
    status_read_at: readAt(entry, receivedAt),
    status_age: entry.ageSeconds,
  }),
  sql: {
    columns: {
      status_hash: 'uuid',
      status_sequence: 'bigint',
      status_word: 'text',
      status_read_at: 'timestamptz',
      status_age: 'float8',
    },
    was: [
      'u.status_hash as was_status_hash',
      'u.status_sequence as was_status_sequence',
      'u.status_word as was_status_word',
      'u.status_read_at as was_status_read_at',
      'u.status_age_seconds as was_status_age',
    ],
    sequence: 'status_sequence',
    pair: [
      `coalesce(status_sequence < was_status_sequence
      or status_sequence = was_status_sequence and status_sequence < goal_sequence, false) as status_late`,
    ],
    // Only the careful path can look up whether a late document is already stored.
    careful: `pair.status_late and (pair.status_sequence, pair.status_hash)
              is distinct from (pair.was_status_sequence, pair.was_status_hash)`,
    judged: [
      'status_hash is not null and not status_late as status_current',
      `status_hash is not null
      and (was_status_sequence is distinct from status_sequence or was_status_hash is distinct from status_hash) as status_news`,
    ],
    pulse: {
      set: [
        ...['hash', 'sequence', 'word', 'read_at'].map(
          (column) =>
            `status_${column} = case when j.status_current then j.status_${column} else u.status_${column} end`,
        ),
        'status_age_seconds = case when j.status_current then j.status_age else u.status_age_seconds end',
        `concluded_at = case when not j.status_current then u.concluded_at
      when u.status_sequence = j.status_sequence and u.concluded_at is not null then u.concluded_at
      when j.status_word in ('success', 'error') then j.at end`,
        `concluded_with = case when not j.status_current then u.concluded_with
      when u.status_sequence = j.status_sequence and u.concluded_with is not null then u.concluded_with
      when j.status_word in ('success', 'error') then j.status_word end`,
      ],
      where: 'j.status_current',
    },
    latest: {
      set: ['status = case when j.status_current and j.status_news then j.status::json else l.status end'],
      where: 'j.status_current and j.status_news',
    },
    history: 'status_current and status_news',
    visible: [
      `status_current
        and (${staleSql(before)} <> ${staleSql(now)} or ${wentBackSql(before, now)})`,
    ],
  },
  shown: ({ status: document }, { statusReadAt, statusSequence }) => ({
    document,
    at: statusReadAt,
    sequenceNumber: statusSequence,
  }),
} satisfies EntryKind<StatusReportEntry>;
