import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { tell, tellsByStatement } from '#server/platform/wakes/index.ts';

/**
 * The kinds of changes that a page can watch. `output`: command output and logs of a VM; `execution`: executions of a
 * VM; `runbook`: a runbook; `rollout`: a rollout, also its progress; `model`: a model with its machines; `relation`: a relation, with
 * its id as key; `unit`: a unit, with its id as key; `fleet`: the health of a VM in the lists, the overview and the map; `attention`: the
 * assignee or snooze of a problem; `act`: an entry of the activity log, with the VM as key or an empty key. The key is
 * `*` if many objects changed together.
 */
export type ChangeTopic =
  | 'vm'
  | 'output'
  | 'execution'
  | 'runbook'
  | 'rollout'
  | 'model'
  | 'relation'
  | 'unit'
  | 'fleet'
  | 'attention'
  | 'act'
  | 'handler'
  | 'publisher'
  | 'member'
  | 'invitation'
  | 'token';

/** Notification channel for changes: `{ topic, key }` as JSON. */
export const changesChannel = 'annex_changes';

/**
 * Stores a change, and notifies open pages at the commit. For topic `vm`, also marks the VM's health as due. Call it
 * once per transaction and key, because notifications serialize commits.
 */
export async function recordChange(tx: Transaction, topic: ChangeTopic, key: string): Promise<void> {
  await recordChanges(tx, topic, [key]);
}

/** Maximum number of VMs that one call names to open pages. If more VMs change, the change has the key `*`. */
const namedVms = 100;

/** Like `recordChange`, but for several keys of one topic. Each VM is marked, even if the change has the key `*`. */
export async function recordChanges(tx: Transaction, topic: ChangeTopic, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const once = [...new Set(keys)].sort();
  const sorted = sql.param(once);
  const named = topic === 'vm' && once.length > namedVms ? ['*'] : once;
  const payloads = named.map((key) => JSON.stringify({ topic, key }));
  // One statement stores and notifies, unless the notifications are sent by another transport.
  const notified = tellsByStatement(tx) ? payloads : [];
  await tx.execute(sql`
    with stored as (insert into changes (topic, key) select ${topic}, k from unnest(${sql.param(named)}::text[]) k)
    select pg_notify(${changesChannel}, p) from unnest(${sql.param(notified)}::text[]) p`);
  if (notified.length === 0) await tell(tx, changesChannel, payloads);
  if (topic !== 'vm') return;
  // Sorted, so that transactions do not deadlock. The rows stay locked until the commit, so health updates skip them,
  // and a change that is committed during an evaluation causes another evaluation.
  await tx.execute(sql`
    insert into health_checks (vm_id, due_at)
    select k, 'epoch' from unnest(${sorted}::uuid[]) k order by k
    on conflict (vm_id) do update set due_at = excluded.due_at`);
}
