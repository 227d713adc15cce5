import { randomUUID } from 'node:crypto';
import { asc, eq, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditChain, auditEntries } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Services, systemOrigin } from '#server/domain/context.ts';
import { readAdoption } from './adoption.ts';
import { readHead } from './chain.ts';
import { type KeptHead, readKeptHead, writeKeptHead } from './kept-head.ts';
import { lockChain, recordAudit } from './record-audit.ts';
import { linkOf } from './seal.ts';

/** Rows per transaction. */
const atOnce = 1_000;

/**
 * Returns the kept head. If its file in DATA_DIR does not exist, creates the file and adds an entry to the activity
 * log. Rows of the first release are adopted once, and only if the launcher recorded the upgrade in DATA_DIR; if that
 * record was lost, nothing is adopted.
 */
export async function beginActivity(services: Pick<Services, 'db' | 'keys' | 'config'>, now: Date): Promise<KeptHead> {
  const kept = await readKeptHead(services);
  if (kept !== null) return kept;
  const adoption = await readAdoption(services);
  const earlier = (await readHead(services.db))?.position ?? 0;
  const isFirst = adoption === 'adopting' || (adoption === 'unknown' && earlier === 0);
  const adopted = adoption === 'adopting' ? await adoptRows(services, now) : 0;
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
