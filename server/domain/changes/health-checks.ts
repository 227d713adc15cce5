import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Services } from '#server/domain/context.ts';

/** Marks existing health checks of VMs as due. */
export async function markHealthChecksDue({ db }: Pick<Services, 'db'>, vmIds: readonly string[]): Promise<void> {
  // Sorted, as in every statement that marks several VMs, to avoid deadlocks.
  await db.execute(sql`
    with marked as materialized (
      select vm_id from health_checks where vm_id = any(${sql.param(vmIds)}::uuid[])
       order by vm_id for update
    )
    update health_checks h set due_at = 'epoch' from marked m where h.vm_id = m.vm_id`);
}

/** Stores when the health of each VM is evaluated next. */
export async function scheduleHealthChecks(
  tx: Transaction,
  checks: readonly { vmId: string; dueAt: Date }[],
): Promise<void> {
  const due = checks.map(({ dueAt }) => dueAt.toISOString());
  await tx.execute(sql`
    update health_checks h set due_at = r.due_at
      from unnest(${sql.param(checks.map(({ vmId }) => vmId))}::uuid[], ${sql.param(due)}::timestamptz[])
        as r(vm_id, due_at)
     where h.vm_id = r.vm_id`);
}

/** Removes the checks of deleted VMs. */
export async function dropHealthChecks(tx: Transaction, vmIds: readonly string[]): Promise<void> {
  if (vmIds.length === 0) return;
  await tx.execute(sql`delete from health_checks where vm_id = any(${sql.param(vmIds)}::uuid[])`);
}

/**
 * Adds a health check for each VM that an earlier release created without a check. Returns the number of added checks.
 */
export async function markForgotten({ db }: Pick<Services, 'db'>): Promise<number> {
  const marked = await db.execute(sql`
    insert into health_checks (vm_id, due_at)
    select id, 'epoch' from vms v
     where deleted_at is null and not exists (select from health_checks h where h.vm_id = v.id)
     order by id
    on conflict do nothing`);
  return marked.rowCount ?? 0;
}
