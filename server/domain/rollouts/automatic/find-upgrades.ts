import { type SQL, sql } from 'drizzle-orm';
import { endedStates } from '#server/domain/rollout-rules/words.ts';
import { putBackSql } from './put-back.ts';
import { isAutomaticSql, isLowerSql, targetsSql } from './upgradable.ts';

/** A version to which extensions must be upgraded automatically. */
export interface Upgrade {
  handler: string;
  version: string;
}

const ended = sql.raw(`(${endedStates.map((state) => `'${state}'`).join(', ')})`);

/**
 * SQL for the versions that need an automatic rollout, with the columns `handler` and `version`: at least one VM can be
 * upgraded to them. A version has one automatic rollout, and another one only if a higher version superseded the first
 * and was withdrawn since. A rollout that a person aborted is therefore not started again.
 */
export const upgradesSql: SQL = sql`
  select t.handler, t.version from ${targetsSql} t
   where not exists (
       select from rollouts r
        where r.kind = 'automatic' and r.handler = t.handler and r.definition #>> '{change,version}' = t.version
          and (r.superseded_by is null or r.state not in ${ended}))
     and exists (
       select from handler_versions g
         join extensions e on ${isAutomaticSql}
         join vms v on v.id = e.vm_id and v.deleted_at is null and v.decommissioning_at is null
        where ${isLowerSql} and not exists (
          select from ${putBackSql(sql`t.handler`, sql`t.version`)} p where p.vm_id = e.vm_id))`;
