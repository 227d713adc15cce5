import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { laneTimes } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Maximum number of past lane periods kept per VM. Older periods no longer extend deadlines. */
const maxPast = 200;

/**
 * SQL that notes that an execution holds the lanes of VMs, which pauses the deadlines of their extensions (MU-73).
 * `lanes` is a query that returns each VM and the time.
 */
export const takeLanesSql = (lanes: string): string =>
  `insert into lane_times (vm_id, taken_at) ${lanes}
  on conflict (vm_id) do update set taken_at = coalesce(lane_times.taken_at, excluded.taken_at)`;

/**
 * SQL for the VMs with goals that have not concluded, and when the oldest of these goals was delivered or declared
 * (`oldest`), sorted by VM. Lane times matter only to these VMs. `vmIds` is a query that returns the VMs to search.
 */
export const openGoalsSql = (vmIds: string): string =>
  `select x.vm_id, min(coalesce(x.delivered_at, x.changed_at)) as oldest
    from extensions x left join extension_pulse u on u.vm_id = x.vm_id and u.name = x.name
   where x.vm_id in (${vmIds})
     and (u.concluded_at is null or u.status_sequence is null or u.status_sequence <> x.sequence_number)
   group by x.vm_id order by x.vm_id`;

const iso = (time: string): string => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * SQL that notes that executions no longer hold the lanes of VMs. Keeps the past periods that ended after `oldest`.
 * `lanes` is a query that returns each VM, the time, and `oldest` from `openGoalsSql`.
 */
export const freeLanesSql = (lanes: string): string =>
  `update lane_times l set taken_at = null, past = coalesce((
    select json_agg(period order by place) from (
      select period, place
        from jsonb_array_elements(l.past::jsonb || jsonb_build_array(jsonb_build_array(
          ${iso('l.taken_at')}, ${iso('f.freed_at')}))) with ordinality p (period, place)
       where (period->>1)::timestamptz > f.oldest order by place desc limit ${maxPast}) kept), '[]')
    from (${lanes}) f (vm_id, freed_at, oldest)
   where l.vm_id = f.vm_id and l.taken_at is not null
  returning l.vm_id, f.oldest`;

const freeLane = `
  goal as materialized (${openGoalsSql('select vm_id from lane')}
), freed as (
  ${freeLanesSql('select lane.*, goal.oldest from lane left join goal on true')}
) select from freed where oldest is not null`;

/** Notes that an execution no longer holds the lane of a VM. */
export async function noteLaneFree(tx: Transaction, { now }: Pick<Context, 'now'>, vmId: string): Promise<void> {
  const lane = sql`select ${vmId}::uuid as vm_id, ${now.toISOString()}::timestamptz as freed_at`;
  const { rowCount } = await tx.execute(sql`with lane as (${lane}), ${sql.raw(freeLane)}`);
  if (rowCount !== 0) await recordChange(tx, 'vm', vmId);
}

/** Removes the lane times of a deleted VM. */
export async function dropLaneTimes(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(laneTimes).where(eq(laneTimes.vmId, vmId));
}
