import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditChain, auditEntries } from '#db/schema/index.ts';
import { collectBeforeCommit } from '#db/transaction-hooks.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { Act } from './act.ts';
import { bounded } from './bounded.ts';
import { chainStart } from './chain.ts';
import { type Content, linkOf, sealOf } from './seal.ts';

/** Rows per statement: PostgreSQL accepts 65,535 parameters, and a row has 19. */
const rowsAtOnce = 1_000;

/** The parts of a context that recording an entry needs. */
export type Acting = Pick<Context, 'actor' | 'origin' | 'now' | 'requestId' | 'keys'>;

/**
 * Writes an entry in the caller's transaction, so that the change and its record are committed together. The entry's
 * position, seal and link are assigned by the transaction's last statements, so the head of the chain is locked only
 * briefly.
 */
export async function recordAudit(tx: Transaction, ctx: Acting, act: Act): Promise<void> {
  const content: Content = {
    at: ctx.now,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    door: ctx.origin.door,
    address: ctx.origin.address,
    client: ctx.origin.client?.slice(0, 300) ?? null,
    action: act.action,
    targetKind: act.target.kind,
    targetId: act.target.id,
    vmId: act.vmId ?? null,
    requestId: ctx.requestId,
    details: bounded(act.details) ?? {},
    before: bounded(act.before),
    after: bounded(act.after),
  };
  collectBeforeCommit(tx, 'acts', content, (acts) => appendActs(tx, ctx.keys, acts, ctx.now));
}

/** Inserts entries after the last committed entry: assigns their positions, and seals and links them. */
async function appendActs(tx: Transaction, keys: Services['keys'], acts: readonly Content[], now: Date): Promise<void> {
  const end = await lockChain(tx, now);
  const ids = await tx.execute<{ id: string }>(
    sql`select nextval(pg_get_serial_sequence('audit_entries', 'id')) as id from generate_series(1, ${acts.length}::int)`,
  );
  let { position, hash } = end;
  const rows = acts.map((content, n) => {
    const row = { ...content, id: Number(ids.rows[n]?.id), seal: sealOf(keys.audit, content) };
    position += 1;
    hash = linkOf(keys.audit, hash, position, row);
    return { ...row, position, hash };
  });
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    await tx
      .insert(auditEntries)
      .overridingSystemValue()
      .values(rows.slice(from, from + rowsAtOnce));
  }
  await tx.update(auditChain).set({ position, hash, linkedAt: now }).where(eq(auditChain.id, 1));
}

/**
 * Locks the head of the chain until the commit. If this process hangs, the database soon ends its transaction, so that
 * other writers are not blocked for long.
 */
export async function lockChain(tx: Transaction, now: Date): Promise<{ position: number; hash: string }> {
  const read = async () => {
    const { rows } = await tx.execute<{ position: string; hash: string }>(sql`
      select position, hash, set_config('idle_in_transaction_session_timeout', '5000', true)
        from audit_chain where id = 1 for update`);
    return rows[0];
  };
  let end = await read();
  if (end === undefined) {
    await tx.insert(auditChain).values({ id: 1, position: 0, hash: chainStart, linkedAt: now }).onConflictDoNothing();
    end = await read();
  }
  if (end === undefined) throw new Error('the activity has no chain');
  return { position: Number(end.position), hash: end.hash };
}
