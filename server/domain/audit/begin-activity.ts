import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditChain, auditEntries } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Services, systemOrigin } from '#server/domain/context.ts';
import { readHead } from './chain.ts';
import { type KeptHead, readKeptHead, writeKeptHead } from './kept-head.ts';
import { lockChain, recordAudit } from './record-audit.ts';
import { isSealed, linkOf } from './seal.ts';

/** Rows that are adopted in one transaction. */
const atOnce = 1_000;

/**
 * Gives the chain its place outside of the database: a file in DATA_DIR with its last head. The first time, rows that
 * the first release wrote and did not link yet are adopted, and never again: from then on the worker signs nothing.
 * Where the file was lost, only a new one is written. Either is an act. Gives the head.
 */
export async function beginActivity(services: Pick<Services, 'db' | 'keys' | 'config'>, now: Date): Promise<KeptHead> {
  const kept = await readKeptHead(services);
  if (kept !== null) return kept;
  const isFirst = !(await hasBegun(services));
  const adopted = isFirst ? await adoptRows(services, now) : 0;
  const act = isFirst ? { action: 'activity.begin' as const } : { action: 'activity.renew-head' as const };
  const ctx = { keys: services.keys, actor: systemActor, origin: systemOrigin, now, requestId: randomUUID() };
  await services.db.transaction((tx) =>
    recordAudit(tx, ctx, { ...act, target: { kind: 'activity', id: 'activity' }, details: { count: adopted } }),
  );
  const head = await readHead(services.db);
  const begun: KeptHead = {
    position: head?.position ?? 0,
    hash: head?.hash ?? '',
    at: now.toISOString(),
    accepted: null,
  };
  await writeKeptHead(services, begun);
  return begun;
}

/** Whether a chain began here: an act that only the key can have made says so. */
async function hasBegun({ db, keys }: Pick<Services, 'db' | 'keys'>): Promise<boolean> {
  const rows = await db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.action, 'activity.begin'), isNotNull(auditEntries.position)))
    .orderBy(desc(auditEntries.at))
    .limit(100);
  return rows.some((row) => row.seal !== null && isSealed(keys.audit, row, row.seal));
}

async function adoptRows({ db, keys }: Pick<Services, 'db' | 'keys'>, now: Date): Promise<number> {
  for (let total = 0; ; ) {
    const count = await db.transaction((tx) => adoptBatch(tx, keys, now));
    total += count;
    if (count < atOnce) return total;
  }
}

async function adoptBatch(tx: Transaction, keys: Services['keys'], now: Date): Promise<number> {
  let { position, hash } = await lockChain(tx, now);
  const rows = await tx
    .select()
    .from(auditEntries)
    .where(isNull(auditEntries.position))
    .orderBy(asc(auditEntries.id))
    .limit(atOnce);
  if (rows.length === 0) return 0;
  const links = rows.map((row) => {
    position += 1;
    hash = linkOf(keys.audit, hash, position, row);
    return { id: row.id, position, hash };
  });
  await tx.execute(sql`
    update audit_entries e set position = l.position, hash = l.hash
    from json_to_recordset(${JSON.stringify(links)}::json) as l(id bigint, position bigint, hash text)
    where e.id = l.id`);
  await tx.update(auditChain).set({ position, hash, linkedAt: now }).where(eq(auditChain.id, 1));
  return rows.length;
}
