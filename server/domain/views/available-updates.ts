import { type SQL, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { fleetField } from '#server/domain/fleet/index.ts';
import { isNewerSql, supportsAgentSql } from '#server/domain/packages/index.ts';

/**
 * Returns, for each VM, the extensions that have an update: a newer published version that supports the VM's platform.
 * Each extension comes with the highest of these versions. Extensions that are being uninstalled have no update.
 */
export async function findAvailableUpdates(
  db: Database | Transaction,
  vmIds: readonly string[],
): Promise<Map<string, Map<string, string>>> {
  const { rows } = await db.execute<{ vmId: string; name: string; version: string }>(sql`
    select e.vm_id as "vmId", e.name, u.version
    from extensions e
    join handler_versions g on g.handler = e.handler and g.version = e.version
    left join agents a on a.vm_id = e.vm_id
    cross join lateral (
      select n.version from handler_versions n where ${isNewerSql} and ${supportsAgentSql}
      order by n.version_key desc limit 1) u
    where e.vm_id = any (${sql.param([...vmIds])}::uuid[]) and e.state <> 'uninstall'`);
  const updates = new Map<string, Map<string, string>>();
  for (const { vmId, name, version } of rows) {
    updates.set(vmId, (updates.get(vmId) ?? new Map<string, string>()).set(name, version));
  }
  return updates;
}

/**
 * SQL condition: for the goal version of extension `e`, there is a newer published version `n` that meets `condition`.
 */
const outdated = (condition: SQL): SQL =>
  sql`(e.handler, e.goal_version) in (
    select g.handler, g.version from handler_versions g join handler_versions n on ${isNewerSql} where ${condition})`;

/**
 * SQL condition for extensions `e` with an update. The platform is looked up only for extensions whose newer versions
 * all have a list of platforms, so a large fleet is filtered without reading all agents.
 */
const hasUpdate: SQL = sql`((${outdated(sql`n.platforms is null`)}
    or (${outdated(sql`n.platforms is not null`)} and exists (
      select from handler_versions g join handler_versions n on ${isNewerSql}
      left join agents a on a.vm_id = e.vm_id
      where g.handler = e.handler and g.version = e.goal_version and ${supportsAgentSql})))
  and not exists (select from extensions x where x.vm_id = e.vm_id and x.name = e.name and x.state = 'uninstall'))`;

/** Filters by whether an extension has an update. */
export const updateAvailable = fleetField({
  name: 'updateAvailable',
  parameter: 'updateAvailable',
  label: 'filter.updateAvailable',
  description: 'Whether the handler has a newer published version that supports the VM’s platform: `yes` or `no`.',
  // False, because publishing or withdrawing a version changes the result without a change to the VM.
  isSetByPeople: false,
  value: { kind: 'words', words: ['yes', 'no'] },
  of: 'extension',
  where(value) {
    if (value.includes('yes') && value.includes('no')) return [];
    const condition = value.includes('yes') ? hasUpdate : sql`not ${hasUpdate}`;
    return [{ set: condition, row: condition }];
  },
  facet: {
    find: 'filter.find.updateAvailable',
    rows: ({ extensions }) => sql`
      select word as name, null::text as value, count(*)::int as n
      from (
        select bool_or(available) as yes, bool_or(not available) as no
        from (select e.vm_id, ${hasUpdate} as available from extension_health e where ${extensions} offset 0) each
        group by vm_id) vms
      cross join lateral (values ('yes', yes), ('no', no)) words (word, has) where has group by 1`,
  },
});
