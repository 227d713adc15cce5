import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { unitsChannel } from '#server/domain/enrollment/index.ts';
import { tell } from '#server/platform/wakes/index.ts';

/** Increases the revision of the units of these VMs, and has their agents look at their units. */
export async function moveUnits(
  tx: Transaction,
  { now }: Pick<Context, 'now'>,
  vmIds: readonly string[],
): Promise<void> {
  if (vmIds.length === 0) return;
  const sorted = [...new Set(vmIds)].sort();
  await tx.execute(sql`
    insert into unit_heads (vm_id, revision, moved_at)
    select vm_id, 1, ${now.toISOString()} from unnest(${sql.param(sorted)}::uuid[]) vm_id order by vm_id
    on conflict (vm_id) do update set revision = unit_heads.revision + 1, moved_at = excluded.moved_at`);
  await tell(
    tx,
    unitsChannel,
    sorted.map((vmId) => `v${vmId}`),
  );
}
