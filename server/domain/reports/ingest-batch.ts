import type { Pool } from 'pg';
import type { Database } from '#db/client.ts';
import { changesChannel } from '#server/domain/changes/index.ts';
import { tell, tellsByStatement } from '#server/platform/wakes/index.ts';
import { batchStatement, documentColumns, separator } from './batch-statement.ts';
import { kindOf } from './entries/index.ts';
import { heartbeatsStatement } from './heartbeats-statement.ts';
import type { IngestResult } from './ingest-carefully.ts';
import { type PreparedReport, promisedSeconds } from './prepare-report.ts';

interface Answer {
  taken: string[];
  repeated: string[];
  visible: string[];
}

/**
 * Stores plain reports (`isPlain`), at most one per VM. Most contain only heartbeats, which one statement stores. A
 * second statement stores the other reports, and the heartbeat reports that contain something new. Returns the results
 * of committed reports by VM. Nothing is stored for the remaining reports, so the caller ingests them one by one.
 * `pool` can be a pool of connections that are reserved for batches. Throws if a statement failed and nothing was
 * stored.
 */
export async function ingestBatch(
  db: Database,
  batch: readonly PreparedReport[],
  pool: Pool = db.$client,
): Promise<Map<string, IngestResult>> {
  const heartbeats = batch.filter(hasHeartbeatsOnly);
  const others = batch.filter((report) => !hasHeartbeatsOnly(report));
  const taken = new Map<string, IngestResult>();
  const parts = await Promise.allSettled([
    ...(heartbeats.length > 0 ? [ingestHeartbeats(db, heartbeats, pool, taken)] : []),
    ...(others.length > 0 ? [ingestAny(db, others, pool, taken)] : []),
  ]);
  for (const part of parts) if (part.status === 'rejected' && taken.size === 0) throw part.reason;
  return taken;
}

const hasHeartbeatsOnly = ({ entries }: PreparedReport): boolean => entries.every(({ kind }) => kind === 'heartbeat');

/** Adds results to `taken` after each statement, because the next statement may fail. */
async function ingestHeartbeats(
  db: Database,
  batch: readonly PreparedReport[],
  pool: Pool,
  taken: Map<string, IngestResult>,
): Promise<void> {
  const entries = batch.flatMap(entryRows).map(({ row }) => row);
  const values = [JSON.stringify(batch.map(reportRow)), JSON.stringify(entries)];
  const { rows } = await pool.query<{ taken: string[] }>({ ...heartbeatsStatement, values });
  note(taken, batch, new Set(rows[0]?.taken));
  const news = batch.filter(({ vmId }) => !taken.has(vmId));
  if (news.length > 0) await ingestAny(db, news, pool, taken);
}

async function ingestAny(
  db: Database,
  batch: readonly PreparedReport[],
  pool: Pool,
  taken: Map<string, IngestResult>,
): Promise<void> {
  const notifies = tellsByStatement(db);
  const { rows } = await pool.query<Answer>({ ...batchStatement, values: valuesOf(batch, notifies) });
  note(taken, batch, new Set(rows[0]?.taken), new Set(rows[0]?.repeated));
  const visible = (rows[0]?.visible ?? []).map((key) => JSON.stringify({ topic: 'vm', key }));
  if (!notifies) await tell(db, changesChannel, visible);
}

function note(
  taken: Map<string, IngestResult>,
  batch: readonly PreparedReport[],
  committed: ReadonlySet<string>,
  repeated: ReadonlySet<string> = new Set(),
): void {
  for (const { vmId, entries } of batch) {
    if (!committed.has(vmId)) continue;
    taken.set(vmId, { stored: repeated.has(vmId) ? 0 : entries.length, faults: [], removed: [] });
  }
}

function valuesOf(batch: readonly PreparedReport[], notifies: boolean): (string | boolean)[] {
  const entries = batch.flatMap(entryRows);
  return [
    JSON.stringify(batch.map(reportRow)),
    JSON.stringify(entries.map(({ row }) => row)),
    notifies,
    ...documentColumns.map((column) =>
      entries
        .map(({ documents: { [column]: document } }) => (document ? JSON.stringify(document) : ''))
        .join(separator),
    ),
  ];
}

const reportRow = ({ vmId, receivedAt, counter, frame }: PreparedReport) => ({
  vm_id: vmId,
  at: receivedAt,
  counter,
  run: frame.run,
  number: frame.reportNumber,
  heartbeat_seconds: frame.heartbeatSeconds,
  status_seconds: frame.statusSeconds,
  skew: frame.clockSkewSeconds,
  applied_etag: frame.appliedEtag,
  ...promisedSeconds(frame),
});

interface EntryRow {
  row: Record<string, unknown>;
  /** Documents by column of `documentColumns`. */
  documents: Record<string, object>;
}

/** Returns one row for each extension in the report. */
function entryRows({ vmId, receivedAt, entries }: PreparedReport): EntryRow[] {
  const rows = new Map<string, EntryRow>();
  for (const entry of entries) {
    const known = rows.get(entry.name) ?? { row: { vm_id: vmId, name: entry.name }, documents: {} };
    const kind = kindOf(entry);
    Object.assign(known.row, kind.batchColumns(entry, receivedAt));
    known.documents[entry.kind] = kind.document(entry);
    known.documents[`${entry.kind}_raw`] = entry.raw;
    rows.set(entry.name, known);
  }
  return [...rows.values()];
}
