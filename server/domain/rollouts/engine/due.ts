import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { movingSql } from './state-lists.ts';

/** Returns when a worker must look at a rollout next; null if no rollout is open. */
export async function nextRolloutAt({ db }: Pick<Services, 'db'>): Promise<{ isOpen: boolean; at: Date | null }> {
  const { rows } = await db.execute<{ n: number; at: string | null }>(
    sql`select count(*)::int as n, min(due_at) as at from rollouts where state in ${movingSql}`,
  );
  const [found] = rows;
  return { isOpen: (found?.n ?? 0) > 0, at: found?.at ? new Date(found.at) : null };
}

/**
 * Makes rollouts due whose steps, or whose parked members, are on these VMs; null means any VM. Returns the number of
 * rollouts.
 */
export async function hintRollouts(
  { db }: Pick<Services, 'db'>,
  vmIds: readonly string[] | null,
  now: Date,
): Promise<number> {
  const touched =
    vmIds === null
      ? sql`true`
      : sql`r.id in (
          select s.rollout_id from rollout_steps s where s.vm_id = any(${sql.param(vmIds)}::uuid[])
            and (s.state in ('parked', 'inFlight', 'soaking', 'retrying', 'reverting')
              or (s.pair_vm_id is not null and s.pair_result is null))
          union select s.rollout_id from rollout_steps s where s.pair_vm_id = any(${sql.param(vmIds)}::uuid[])
            and s.pair_result is null)`;
  const at = sql`${now.toISOString()}::timestamptz`;
  const hinted = await db.execute(sql`
    update rollouts r set due_at = ${at}
      where r.id in (
        select id from rollouts r where r.state in ('running', 'paused', 'keeping', 'aborting')
          and (r.due_at is null or r.due_at > ${at}) and ${touched}
        order by id for update skip locked)`);
  return hinted.rowCount ?? 0;
}
