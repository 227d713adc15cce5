import { type SQL, sql } from 'drizzle-orm';

/**
 * SQL for the disruption group of the VM with the alias `v`: its availability set, or the value of a tag if it is in
 * none. Null if the VM has neither.
 */
export const groupSql = (tag: string): SQL<string | null> => sql`coalesce(v.disruption_group, v.tags ->> ${tag})`;

/**
 * SQL that selects each reserved VM and its holder with the groups that it counts for: the group of the reservation
 * and, if the VM has changed its group since, its current group.
 */
export const outOfServiceSql = (tag: string): SQL => sql`
  select r.vm_id, r.disruption_group as "group", r.holder_kind, r.holder_id from group_reservations r
  union all
  select r.vm_id, ${groupSql(tag)}, r.holder_kind, r.holder_id from group_reservations r join vms v on v.id = r.vm_id
   where ${groupSql(tag)} <> r.disruption_group`;
