import { type SQL, sql } from 'drizzle-orm';
import { decidedSteps } from '#server/domain/rollout-rules/words.ts';
import type { Pass } from '../engine/pass.ts';
import { openStatesSql } from '../engine/state-lists.ts';
import { putBackSql } from './put-back.ts';

const decided = sql.raw(`(${decidedSteps.map((state) => `'${state}'`).join(', ')})`);

/**
 * SQL for the open rollouts of people that change extensions of a handler, with their members among these VMs. A rollout
 * that only waits for parked members releases those that it has decided. Columns: `vm_id`, `rollout_id`.
 */
export const ofPeopleSql = (handler: string | null, vmIds: readonly string[]): SQL => sql`(
  select v.id as vm_id, r.id as rollout_id
    from rollouts r
    cross join unnest(${sql.param(vmIds)}::uuid[]) as v(id)
    join rollout_members m on m.rollout_id = r.id and md5(r.id || '/' || v.id) between m.low and m.high
     and v.id = any(m.vm_ids)
   where r.kind <> 'automatic' and r.state in ${openStatesSql}
     and (r.handler = ${handler} or r.handler is null) and r.definition #>> '{change,kind}' <> 'run'
     and not (r.state = 'keeping' and exists (
       select from rollout_steps s where s.vm_id = v.id and s.rollout_id = r.id and s.state in ${decided})))`;

/**
 * Returns which of these members an automatic rollout leaves to open rollouts of people that change the same extensions.
 */
export async function leftToPeople({ tx, row }: Pass, vmIds: readonly string[]): Promise<Set<string>> {
  if (row.kind !== 'automatic' || vmIds.length === 0) return new Set();
  const { rows } = await tx.execute<{ vm_id: string }>(sql`
    select distinct vm_id from ${ofPeopleSql(row.handler, vmIds)} o`);
  return new Set(rows.map(({ vm_id }) => vm_id));
}

/** Returns which of these members were reverted from the version of an automatic rollout (RO-32). */
export async function putBackSince({ tx, row }: Pass, vmIds: readonly string[]): Promise<Set<string>> {
  const { handler, version } = row.definition.change;
  if (row.kind !== 'automatic' || vmIds.length === 0) return new Set();
  const { rows } = await tx.execute<{ vm_id: string }>(sql`
    select p.vm_id from ${putBackSql(sql`${handler}`, sql`${version}`)} p
     where p.vm_id = any(${sql.param(vmIds)}::uuid[])`);
  return new Set(rows.map(({ vm_id }) => vm_id));
}
