import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { type Upgrade, upgradesSql } from '../automatic/find-upgrades.ts';
import { movingSql, unendedSql } from './state-lists.ts';

/** What workers have to do for rollouts. */
export interface RolloutWork {
  isOpen: boolean;
  /** When a worker must look at an open rollout next; null if none is open. */
  at: Date | null;
  /** Whether a rollout waits for a plan or a check. */
  isUnplanned: boolean;
  /** Versions that need an automatic rollout. */
  upgrades: Upgrade[];
}

/** Returns what workers have to do next. Runs one statement. Looks for automatic upgrades only with `withUpgrades`. */
export async function findRolloutWork(
  { db }: Pick<Services, 'db'>,
  { withUpgrades }: { withUpgrades: boolean },
): Promise<RolloutWork> {
  const upgrades = withUpgrades ? sql`(select json_agg(u) from (${upgradesSql}) u)` : sql`null::json`;
  const { rows } = await db.execute<{
    n: number;
    at: string | null;
    unplanned: number;
    upgrades: Upgrade[] | null;
  }>(sql`
    select count(*) filter (where state in ${movingSql})::int as n, min(due_at) filter (where state in ${movingSql}) as at,
      count(*) filter (where state in ('planning', 'checking'))::int as unplanned, ${upgrades} as upgrades
      from rollouts where state in ${unendedSql}`);
  const [{ n, at, unplanned, upgrades: found } = { n: 0, at: null, unplanned: 0, upgrades: null }] = rows;
  return { isOpen: n > 0, at: at === null ? null : new Date(at), isUnplanned: unplanned > 0, upgrades: found ?? [] };
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
