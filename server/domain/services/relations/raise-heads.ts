import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Moving } from './move-units.ts';
import { tellUnits } from './wake.ts';

/** Raises the revision of VMs, because the set of their units' relations changed, and wakes their polls. */
export async function raiseHeads(tx: Transaction, { now }: Moving, vmIds: readonly string[]): Promise<void> {
  if (vmIds.length === 0) return;
  const sorted = [...new Set(vmIds)].sort();
  // Sorted, so that transactions do not deadlock.
  await tx.execute(sql`
    insert into unit_heads (vm_id, revision, moved_at)
    select vm_id, 1, ${now.toISOString()}::timestamptz from unnest(${sql.param(sorted)}::uuid[]) vm_id order by vm_id
    on conflict (vm_id) do update set revision = unit_heads.revision + 1, moved_at = excluded.moved_at`);
  await tellUnits(tx, { vmIds: sorted });
}
