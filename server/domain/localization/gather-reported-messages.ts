import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { messageCursors } from '#db/schema/index.ts';
import { heartbeatFileWith, isPlainObject, type MessageReference, read, statusFileWith } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import { messagesOfHeartbeat, messagesOfStatus } from './message-ids.ts';

/** Maximum number of ids stored per handler version. Beyond that, the least recently seen ids are deleted. */
const keptPerVersion = 500;
const batch = 2_000;
/**
 * Maximum bytes of documents read together, which take several times as much memory once parsed. At least one document
 * is read.
 */
const batchBytes = 8 * 1024 * 1024;
/**
 * Maximum time between the receipt and the commit of a report. A report that takes longer may be skipped, because
 * higher ids have been read by then.
 */
const settledMs = 2_000;
/** Number of consecutive ids that one query covers, so that a long backlog is not read again for each batch. */
const window = 2 * batch;
const params = { count: 10, length: 200 };

interface HistoryRow extends Record<string, unknown> {
  id: string;
  at: Date;
  kind: 'handler' | 'heartbeat' | 'status';
  document: unknown;
  handler: string | null;
  version: string | null;
  bytes: number;
}

interface Reported {
  handler: string;
  version: string;
  id: string;
  params: string[];
  reports: number;
  first: string;
  last: string;
}

/**
 * Reads the reports since the last call, and stores which message ids each handler version reported, with params and
 * counts. Runs in the worker, so that storing a report does not take longer. Returns the number of history entries
 * read.
 */
export async function gatherReportedMessages(
  { db, config }: Pick<Services, 'db' | 'config'>,
  now: Date,
): Promise<number> {
  for (let total = 0; ; ) {
    const { count, done } = await db.transaction((tx) => gatherBatch(tx, config.limits.report, now));
    total += count;
    if (done) return total;
  }
}

async function gatherBatch(
  tx: Transaction,
  limits: Services['config']['limits']['report'],
  now: Date,
): Promise<{ count: number; done: boolean }> {
  await tx.insert(messageCursors).values({ id: 1, historyId: 0 }).onConflictDoNothing();
  const [cursor] = await tx.select().from(messageCursors).for('update', { skipLocked: true });
  if (cursor === undefined) return { count: 0, done: true };
  const found = await readOn(tx, cursor.historyId);
  const settled = new Date(now.getTime() - settledMs);
  const young = found.findIndex(({ at }) => new Date(at) > settled);
  const rows = young < 0 ? found : found.slice(0, young);
  const last = rows.at(-1);
  if (last === undefined) return { count: 0, done: true };

  const schemas = { status: statusFileWith(limits), heartbeat: heartbeatFileWith(limits) };
  const reported = new Map<string, Reported>();
  for (const { kind, document, handler, version, at } of rows) {
    if (kind === 'handler' || handler === null || version === null) continue;
    const file = isPlainObject(document) ? document.file : undefined;
    for (const message of new Map(messagesIn(schemas, kind, file).map((each) => [each.id, each])).values()) {
      const time = new Date(at).toISOString();
      const key = JSON.stringify([handler, version, message.id]);
      const before = reported.get(key);
      reported.set(key, {
        handler,
        version,
        id: message.id,
        params: message.params.slice(0, params.count).map((param) => param.slice(0, params.length)),
        reports: (before?.reports ?? 0) + 1,
        first: before?.first ?? time,
        last: time,
      });
    }
  }
  await keep(tx, [...reported.values()]);
  await tx
    .update(messageCursors)
    .set({ historyId: Number(last.id) })
    .where(eq(messageCursors.id, 1));
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  return { count: rows.length, done: young >= 0 || (rows.length < batch && bytes < batchBytes / 2) };
}

/**
 * Reads the rows of the window after an id. If that window has no rows, reads the window that begins with the next
 * existing id.
 */
async function readOn(tx: Transaction, after: number): Promise<HistoryRow[]> {
  const from = (start: number) =>
    tx.execute<HistoryRow>(sql`
      select h.id, h.at, h.kind, h.bytes, e.handler,
        case when h.kind = 'handler' then null else h.document end as document,
        coalesce(l.handler_state ->> 'version', e.version) as version
      from (
        select *, sum(bytes) over (order by id)::float8 - bytes as before from (
          select *, octet_length(document::text) as bytes from report_history
           where id > ${start} and id <= ${start + window} order by id limit ${batch}
        ) r
      ) h
      left join extensions e on e.vm_id = h.vm_id and e.name = h.extension
      left join extension_latest l on l.vm_id = h.vm_id and l.name = h.extension
      where h.before < ${batchBytes}
      order by h.id`);
  const near = await from(after);
  if (near.rows.length > 0) return near.rows;
  const { rows } = await tx.execute<{ next: string | null }>(
    sql`select min(id) as next from report_history where id > ${after + window}`,
  );
  const next = rows[0]?.next ?? null;
  return next === null ? [] : (await from(Number(next) - 1)).rows;
}

interface Schemas {
  status: ReturnType<typeof statusFileWith>;
  heartbeat: ReturnType<typeof heartbeatFileWith>;
}

/** Returns no messages for a document that exceeds the limits, which may have been lowered since it was reported. */
function messagesIn(schemas: Schemas, kind: 'heartbeat' | 'status', file: unknown): MessageReference[] {
  if (kind === 'status') {
    const status = read(schemas.status, file);
    return 'value' in status ? messagesOfStatus(status.value) : [];
  }
  const heartbeat = read(schemas.heartbeat, file);
  return 'value' in heartbeat ? messagesOfHeartbeat(heartbeat.value) : [];
}

async function keep(tx: Transaction, reported: readonly Reported[]): Promise<void> {
  if (reported.length === 0) return;
  const result = await tx.execute<{ handler: string; version: string; is_new: boolean }>(sql`
    insert into reported_messages as m (handler, version, id, params, reports, first_seen_at, last_seen_at)
    select r.handler, v.version, r.id, r.params, r.reports, r.first, r.last
    from jsonb_to_recordset(${JSON.stringify(reported)}::jsonb)
      r(handler text, version text, id text, params jsonb, reports integer, first timestamptz, last timestamptz)
    join handler_versions v on v.handler = r.handler and v.version = r.version
    on conflict (handler, version, id) do update set
      params = excluded.params, reports = m.reports + excluded.reports,
      last_seen_at = greatest(m.last_seen_at, excluded.last_seen_at)
    returning handler, version, xmax = 0 as is_new`);
  const fresh = result.rows.filter((row) => row.is_new);
  for (const handler of new Set(fresh.map((row) => row.handler))) {
    await tx.execute(sql`
      delete from reported_messages m using (
        select version, id, row_number() over (partition by version order by last_seen_at desc) as place
        from reported_messages where handler = ${handler}
      ) p
      where m.handler = ${handler} and m.version = p.version and m.id = p.id and p.place > ${keptPerVersion}`);
    // Only a new id changes which messages the page lists; new counts appear when the page is loaded again.
    await recordChange(tx, 'handler', handler);
  }
}
