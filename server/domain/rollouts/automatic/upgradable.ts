import { type SQL, sql } from 'drizzle-orm';
import type { StoredRollout } from '../rows.ts';
import { putBackSql } from './put-back.ts';

/** SQL condition: version `g` is lower than version `t` of the same handler and has the same first number. */
export const isLowerSql: SQL = sql`(g.handler = t.handler and g.version_key < t.version_key
  and split_part(g.version_key, '.', 1) = split_part(t.version_key, '.', 1))`;

/** SQL condition: extension `e` has version `g` and is upgraded automatically. */
export const isAutomaticSql: SQL = sql`(e.handler = g.handler and e.version = g.version
  and e.auto_upgrade_minor_version and e.state <> 'uninstall')`;

/** SQL for the published versions `t` to which extensions are upgraded: the highest one of each first number. */
export const targetsSql: SQL = sql`(
  select distinct on (v.handler, split_part(v.version_key, '.', 1)) v.handler, v.version, v.version_key
    from handler_versions v where v.state = 'published'
   order by v.handler, split_part(v.version_key, '.', 1), v.version_key desc)`;

/**
 * SQL condition for the VMs that an automatic rollout upgrades: they have an extension that is upgraded automatically,
 * and were not reverted from the version. Every VM for other rollouts.
 */
export function isUpgradedBy(
  { kind, definition: { change } }: Pick<StoredRollout, 'kind' | 'definition'>,
  vmId: SQL,
): SQL {
  if (kind !== 'automatic') return sql`true`;
  const { handler, version } = change;
  return sql`(${vmId} in (
      select e.vm_id from handler_versions t
        join handler_versions g on ${isLowerSql} join extensions e on ${isAutomaticSql}
       where t.handler = ${handler} and t.version = ${version})
    and ${vmId} not in (select p.vm_id from ${putBackSql(sql`${handler}`, sql`${version}`)} p))`;
}
