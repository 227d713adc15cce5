import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { deleteSecretsSql, goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { tell } from '#server/platform/wakes/index.ts';

/**
 * Cancels those of these executions that no machine has, with their secret parameters. An execution that another
 * transaction is changing is left alone. Returns the ids of the canceled executions.
 */
export async function recallMany(
  tx: Transaction,
  ctx: Context,
  of: readonly { vmId: string; executionId: string }[],
): Promise<ReadonlySet<string>> {
  if (of.length === 0) return new Set();
  const vmIds = sql.param(of.map(({ vmId }) => vmId));
  const ids = sql.param(of.map(({ executionId }) => executionId));
  const { rows } = await tx.execute<{ vm_id: string; id: string }>(sql`
    with waiting as materialized (
      select e.vm_id, e.id, e.secret_id from executions e
        join unnest(${vmIds}::uuid[], ${ids}::uuid[]) as r(vm_id, id) on r.vm_id = e.vm_id and r.id = e.id
       where e.state in ('waiting-approval', 'queued') order by e.vm_id for update of e skip locked),
    canceled as (
      update executions e set state = 'cancelled', reason = 'execution.recalled', due_at = null, secret_id = null,
        concluded_at = ${ctx.now.toISOString()}::timestamptz
        from waiting w where e.vm_id = w.vm_id and e.id = w.id returning e.vm_id, e.id),
    dropped as (${sql.raw(deleteSecretsSql('select vm_id, secret_id from waiting where secret_id is not null'))})
    select vm_id, id from canceled`);
  const canceled = rows.map(({ vm_id }) => vm_id);
  await recordChanges(tx, 'execution', canceled);
  await tell(tx, goalStatesChannel, canceled);
  return new Set(rows.map(({ id }) => id));
}
