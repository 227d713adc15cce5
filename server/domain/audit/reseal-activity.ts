import { asc, eq, gt, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditChain, auditEntries } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { Keys } from '#server/platform/keys.ts';
import { chainStart } from './chain.ts';
import { type KeptHead, writeKeptHead } from './kept-head.ts';
import { lockChain } from './record-audit.ts';
import { linkOf, sealOf } from './seal.ts';

const atOnce = 1_000;

/**
 * Seals and links every entry with another key, in order; entries without a seal stay unsealed. The caller has verified
 * the chain with the previous key. Returns the number of entries, and the hash of the head under the previous key.
 * Previous verdicts no longer count.
 */
export async function resealActivity(
  tx: Transaction,
  to: Keys,
  now: Date,
): Promise<{ acts: number; earlierHead: string }> {
  const { hash: earlierHead } = await lockChain(tx, now);
  let [position, hash] = [0, chainStart];
  for (let last = 0, acts = 0; ; ) {
    const rows = await tx
      .select()
      .from(auditEntries)
      .where(gt(auditEntries.position, last))
      .orderBy(asc(auditEntries.position))
      .limit(atOnce);
    const links = rows.map((row) => {
      const seal = row.seal === null ? null : sealOf(to.audit, row);
      position = row.position ?? 0;
      hash = linkOf(to.audit, hash, position, { ...row, seal });
      return { id: row.id, seal, hash };
    });
    await tx.execute(sql`
      update audit_entries e set seal = l.seal, hash = l.hash
        from json_to_recordset(${JSON.stringify(links)}::json) as l(id bigint, seal text, hash text)
       where e.id = l.id`);
    acts += rows.length;
    last = position;
    if (rows.length < atOnce) {
      const verdict = { verifiedAt: null, verifiedPosition: null, fault: null, checkedAt: null, verdict: null };
      await tx
        .update(auditChain)
        .set({ position, hash, ...verdict })
        .where(eq(auditChain.id, 1));
      return { acts, earlierHead };
    }
  }
}

/** Writes the head of the resealed chain to DATA_DIR. Anchors from before the resealing no longer apply. */
export async function keepResealedHead(
  services: Pick<Services, 'db' | 'keys'> & { config: Pick<Services['config'], 'dataDir'> },
  now: Date,
): Promise<KeptHead> {
  const [head] = await services.db.select().from(auditChain).where(eq(auditChain.id, 1));
  const at = now.toISOString();
  const kept = { position: head?.position ?? 0, hash: head?.hash ?? '', at, accepted: { at, faults: [] } };
  await writeKeptHead(services, kept);
  return kept;
}
