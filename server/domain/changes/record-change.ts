import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { tell } from '#server/platform/wakes/index.ts';

/**
 * What a screen may watch. `output`: what a VM's commands wrote, and its logs; `fleet`: the health of a VM as lists, overview and map have it; `act`: what was done, with
 * the VM it was done to as key, or nothing. The key is `*` where many changed at once.
 */
export type ChangeTopic =
  | 'vm'
  | 'output'
  | 'fleet'
  | 'act'
  | 'handler'
  | 'publisher'
  | 'member'
  | 'invitation'
  | 'token';

/** Channel on which changes are told: `{ topic, key }` as JSON. */
export const changesChannel = 'annex_changes';

/**
 * Leaves a row for screens that catch up and tells those that listen, both with the commit. The health of a VM is
 * derived anew. One call per transaction and thing: notifications serialise commits.
 */
export async function recordChange(tx: Transaction, topic: ChangeTopic, key: string): Promise<void> {
  await recordChanges(tx, topic, [key]);
}

/** The same for many things of one kind. */
export async function recordChanges(tx: Transaction, topic: ChangeTopic, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const once = [...new Set(keys)].sort();
  const sorted = sql.param(once);
  await tx.execute(sql`insert into changes (topic, key) select ${topic}, k from unnest(${sorted}::text[]) k`);
  await tell(
    tx,
    changesChannel,
    once.map((key) => JSON.stringify({ topic, key })),
  );
  if (topic !== 'vm') return;
  // Sorted, so that no two transactions wait for each other. The row stays locked until the commit: whoever derives
  // passes it by until then, and what is committed while it derives is derived again.
  await tx.execute(sql`
    insert into health_checks (vm_id, due_at)
    select k, 'epoch' from unnest(${sorted}::uuid[]) k order by k
    on conflict (vm_id) do update set due_at = excluded.due_at`);
}
