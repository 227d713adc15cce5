import {
  type DocumentLimits,
  type HeartbeatDocument,
  heartbeatEntry,
  heartbeatFileWith,
  isPlainObject,
  plainHeartbeat,
} from '#protocol/index.ts';
import { recoverHeartbeat } from '#server/domain/localization/index.ts';
import {
  freshHeartbeatSeconds,
  graceSeconds,
  heartbeatVerdict,
  unresponsiveSeconds,
} from '#server/domain/verdicts/index.ts';
import { memoize } from '#server/platform/memoize.ts';
import { elapsed, type FileReading, type ReadingColumns, readAt, wentBack, wentBackSql } from './file-reading.ts';
import type { EntryBase, EntryKind, MergeContext, Merged, PulseRow } from './kind.ts';
import { fingerprint, type Reading, refuse, take } from './reading.ts';

/** An entry with a heartbeat file (AZ-H1). */
export interface HeartbeatReportEntry extends EntryBase, FileReading {
  kind: 'heartbeat';
  sequenceNumber: null;
  document: HeartbeatDocument;
}

// Building a schema costs more than running it, so schemas are memoized by limits, which are created once per process.
const fileSchemaFor = memoize((limits: DocumentLimits) => heartbeatFileWith(limits));

function read(reading: Reading, raw: unknown, path: string): HeartbeatReportEntry | null {
  const { limits, recover, room } = reading;
  const entry = take(heartbeatEntry, raw, path, reading);
  const file = isPlainObject(raw) ? raw.file : undefined;
  const document = isPlainObject(raw)
    ? (plainHeartbeat(file, limits) ??
      take(fileSchemaFor(limits), file, `${path}/file`, reading, (found) => refuse(reading, 'heartbeat', entry, found)))
    : null;
  if (entry === null || document === null) return null;
  const { extension: name, ageSeconds, readSecondsAgo } = entry;
  const ages = { ageSeconds, readSecondsAgo };
  recoverHeartbeat(document, recover.get(name), room);
  const hash = fingerprint(document);
  return { kind: 'heartbeat', path, name, sequenceNumber: null, ...ages, document, hash, raw: raw as typeof entry };
}

type StoredHeartbeat = Pick<PulseRow, 'heartbeatStatus' | 'heartbeatReadAt' | 'heartbeatAgeSeconds'>;

/** Returns the stored heartbeat in the form that the rules in `verdicts` need; null if there is none. */
export function heartbeatReading({ heartbeatStatus, heartbeatReadAt, heartbeatAgeSeconds }: StoredHeartbeat) {
  if (heartbeatStatus === null || heartbeatReadAt === null || heartbeatAgeSeconds === null) return null;
  return { status: heartbeatStatus, readAt: heartbeatReadAt, ageSeconds: heartbeatAgeSeconds };
}

function merge(row: PulseRow, entry: HeartbeatReportEntry, { receivedAt, periods }: MergeContext): Merged {
  const next = {
    ...row,
    heartbeatHash: entry.hash,
    heartbeatStatus: entry.document.status,
    heartbeatReadAt: readAt(entry, receivedAt),
    heartbeatAgeSeconds: entry.ageSeconds,
  };
  const news = row.heartbeatHash !== entry.hash;
  const verdict = (of: PulseRow) =>
    heartbeatVerdict(
      { optedIn: true, reading: heartbeatReading(of), periodSeconds: periods.heartbeatSeconds, enabledAt: null },
      receivedAt,
    );
  const back = wentBack(heartbeatReading(row), heartbeatReading(next));
  return { row: next, current: true, news, visible: news || back || verdict(row) !== verdict(next) };
}

const before = { word: 'was_heartbeat_status', readAt: 'was_heartbeat_read_at', age: 'was_heartbeat_age' };
const now = { word: 'heartbeat_status', readAt: 'heartbeat_read_at', age: 'heartbeat_age' };

/**
 * `heartbeatVerdict` of verdicts/rules.ts as SQL, for a handler that opted in, at time `at`. A test compares the two.
 */
const verdictSql = (of: ReadingColumns): string => `case
    when ${of.readAt} is null then 'none'
    when ${elapsed(of)} > heartbeat_period + ${graceSeconds} then
      case when ${of.age} + ${elapsed(of)} > ${unresponsiveSeconds} then 'unresponsive' else 'unknown' end
    when ${of.age} > ${unresponsiveSeconds} then 'unresponsive'
    when ${of.word} = 'notready' then 'notready'
    when ${of.age} <= ${freshHeartbeatSeconds} then 'ready'
    else 'unknown' end`;

/** SQL for whether the verdict stays the same and `wentBack` is false. */
export const sameVerdictSql = `${verdictSql(before)} = ${verdictSql(now)}
      and not ${wentBackSql(before, now)}`;

export const heartbeat = {
  kind: 'heartbeat',
  list: 'heartbeats',
  read,
  emptyPulse: { heartbeatHash: null, heartbeatStatus: null, heartbeatReadAt: null, heartbeatAgeSeconds: null },
  merge,
  document: ({ document }) => document,
  latestColumns: ({ document }) => ({ heartbeat: document }),
  batchColumns: (entry, receivedAt) => ({
    heartbeat_hash: entry.hash,
    heartbeat_status: entry.document.status,
    heartbeat_read_at: readAt(entry, receivedAt),
    heartbeat_age: entry.ageSeconds,
  }),
  sql: {
    columns: {
      heartbeat_hash: 'uuid',
      heartbeat_status: 'text',
      heartbeat_read_at: 'timestamptz',
      heartbeat_age: 'float8',
    },
    was: [
      'u.heartbeat_hash as was_heartbeat_hash',
      'u.heartbeat_status as was_heartbeat_status',
      'u.heartbeat_read_at as was_heartbeat_read_at',
      'u.heartbeat_age_seconds as was_heartbeat_age',
    ],
    sequence: null,
    pair: [],
    careful: null,
    judged: ['heartbeat_hash is not null and was_heartbeat_hash is distinct from heartbeat_hash as heartbeat_news'],
    pulse: {
      set: [
        'heartbeat_hash = coalesce(j.heartbeat_hash, u.heartbeat_hash)',
        'heartbeat_status = coalesce(j.heartbeat_status, u.heartbeat_status)',
        'heartbeat_read_at = coalesce(j.heartbeat_read_at, u.heartbeat_read_at)',
        'heartbeat_age_seconds = coalesce(j.heartbeat_age, u.heartbeat_age_seconds)',
      ],
      where: 'j.heartbeat_hash is not null',
    },
    latest: {
      set: ['heartbeat = case when j.heartbeat_news then j.heartbeat::json else l.heartbeat end'],
      where: 'j.heartbeat_news',
    },
    history: 'heartbeat_news',
    visible: [
      `heartbeat_hash is not null
        and (${verdictSql(before)} <> ${verdictSql(now)} or ${wentBackSql(before, now)})`,
    ],
  },
  shown: ({ heartbeat: document }, { heartbeatReadAt }) => ({ document, at: heartbeatReadAt, sequenceNumber: null }),
} satisfies EntryKind<HeartbeatReportEntry>;
