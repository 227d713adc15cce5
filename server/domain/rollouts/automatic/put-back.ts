import { type SQL, sql } from 'drizzle-orm';

/**
 * SQL for the VMs that were reverted from a version of a handler, with the rollout that had declared the version: their
 * step failed and was reverted, or a revert changed them (RO-32). Columns: `vm_id`, `rollout_id`.
 */
export const putBackSql = (handler: SQL, version: SQL): SQL => sql`(
  select s.vm_id, r.id as rollout_id
    from rollouts r join rollout_steps s on s.rollout_id = r.id
   where r.handler = ${handler} and r.definition #>> '{change,version}' = ${version}
     and s.state in ('reverting', 'reverted', 'stuck')
  union all
  select s.vm_id, r.id
    from rollouts r join rollouts b on b.of = r.id and b.kind = 'revert'
    join rollout_steps s on s.rollout_id = b.id
   where r.handler = ${handler} and r.definition #>> '{change,version}' = ${version}
     and s.before_incarnation is not null and s.state not in ('recalled', 'skipped', 'gone'))`;
