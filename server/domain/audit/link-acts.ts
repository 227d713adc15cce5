import { asc, eq, isNull, sql } from 'drizzle-orm';
import { auditAnchors, auditChain, auditEntries } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { chainStart } from './chain.ts';
import { linkOf } from './seal.ts';

/** Rows that are linked in one transaction; after an upgrade there may be a million to begin with. */
const atOnce = 1_000;
/** An anchor at least this often, and one a day. */
const anchorEvery = 1_000;
const day = 86_400_000;

/** What one round did. */
export interface Linked {
  count: number;
  /** VMs that the acts were about; null stands for acts about something else. */
  vmIds: (string | null)[];
  /** A new anchor, to be kept where nobody who may write into the database can write. */
  anchor: { position: number; hash: string } | null;
}

/**
 * Links committed acts to the chain, in the order of their numbers as far as they are there: one that commits late is
 * linked later. One row is locked, by linkers only, so that acts never wait. Gives a count below 1,000 at the end.
 */
export async function linkActs({ db, keys }: Pick<Services, 'db' | 'keys'>, now: Date): Promise<Linked> {
  return db.transaction(async (tx) => {
    await tx.insert(auditChain).values({ id: 1, position: 0, hash: chainStart, linkedAt: now }).onConflictDoNothing();
    const [head] = await tx.select().from(auditChain).where(eq(auditChain.id, 1)).for('update');
    if (!head) throw new Error('the chain has no head');
    const rows = await tx
      .select()
      .from(auditEntries)
      .where(isNull(auditEntries.position))
      .orderBy(asc(auditEntries.id))
      .limit(atOnce);
    if (rows.length === 0) return { count: 0, vmIds: [], anchor: null };

    let { position, hash } = head;
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

    const [last] = await tx.select().from(auditAnchors).orderBy(sql`${auditAnchors.position} desc`).limit(1);
    const due = !last || position - last.position >= anchorEvery || now.getTime() - last.at.getTime() >= day;
    if (due) await tx.insert(auditAnchors).values({ position, hash, at: now });
    const vmIds = [...new Set(rows.map((row) => row.vmId))];
    return { count: rows.length, vmIds, anchor: due ? { position, hash } : null };
  });
}
