import { type SQL, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import type { Holder } from './reserve.ts';

/** Releases VMs that the holder has reserved. VMs that others have reserved stay reserved. */
export async function release(tx: Transaction, { kind, id }: Holder, vmIds: readonly string[]): Promise<void> {
  if (vmIds.length === 0) return;
  await tx.execute(sql`
    delete from group_reservations
     where vm_id = any(${sql.param(vmIds)}::uuid[]) and holder_kind = ${kind} and holder_id = ${id}`);
}

/**
 * Releases the VMs of one holder, or of all holders of a kind, that are no longer out of service. `isOut` is the
 * condition for reservations `r` that must stay. Returns the number of released VMs.
 */
export async function releaseUnless(
  db: Database | Transaction,
  { kind, id }: Pick<Holder, 'kind'> & Partial<Holder>,
  isOut: SQL,
): Promise<number> {
  const released = await db.execute(sql`
    delete from group_reservations r
     where r.holder_kind = ${kind} and ${id === undefined ? sql`true` : sql`r.holder_id = ${id}`} and not (${isOut})`);
  return released.rowCount ?? 0;
}
