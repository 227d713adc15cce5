import { type SQL, sql } from 'drizzle-orm';
import { fleetField } from '#server/domain/fleet/index.ts';
import type { CountedRows, QueriedRows } from '#server/domain/fleet-field.ts';
import { maxModelName } from '#server/domain/topology-rules/names.ts';

/** Maximum characters of the names of cloud services, with the name of an availability set or of a role. */
const maxName = 160;

/** The condition that the VM has a role `t` that meets a condition. */
function hasRole(condition: SQL, { id }: QueriedRows) {
  const matches = sql`${id} in (select t.vm_id from vm_roles t where ${condition})`;
  return [{ set: matches, row: matches }];
}

/** The VMs that a menu counts, by a column of their roles `t` or of their models `m`. */
const countBy = (column: SQL, { table, where, id }: CountedRows): SQL => sql`
  select ${column} as name, null::text as value, count(*)::int as n
  from vm_roles t join models m on m.id = t.model_id
  where t.vm_id in (select ${id} from ${table} where ${where}) group by 1`;

/** VMs that are machines of a model. */
export const modelField = fleetField({
  name: 'model',
  parameter: 'model',
  label: 'filter.model',
  description: 'The name of a model, for its machines.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: maxModelName },
  of: 'vm',
  where: (value, rows) =>
    hasRole(sql`t.model_id = (select m.id from models m where m.name = ${value} and m.removed_at is null)`, rows),
  facet: { find: 'filter.find.model', rows: (counted) => countBy(sql`m.name`, counted) },
});

/** VMs that are in a cloud service. */
export const cloudServiceField = fleetField({
  name: 'cloudService',
  parameter: 'cloudService',
  label: 'filter.cloudService',
  description: 'The name of a cloud service.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: maxName },
  of: 'vm',
  where: (value, rows) => hasRole(sql`t.cloud_service = ${value}`, rows),
  facet: { find: 'filter.find.cloudService', rows: (counted) => countBy(sql`t.cloud_service`, counted) },
});

/** VMs that are in an availability set. */
export const availabilitySetField = fleetField({
  name: 'availabilitySet',
  parameter: 'availabilitySet',
  label: 'filter.availabilitySet',
  description: 'An availability set as `<cloud service>/<name>`.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: maxName },
  of: 'vm',
  where(value, rows) {
    const [service = '', ...name] = value.split('/');
    return hasRole(sql`t.cloud_service = ${service} and t.availability_set = ${name.join('/')}`, rows);
  },
});

/** The VM of a role. */
export const instanceIdField = fleetField({
  name: 'instanceId',
  parameter: 'instanceId',
  label: 'filter.instanceId',
  description: 'The instance ID of a role: `<cloud service>-<role>`.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: maxName },
  of: 'vm',
  where(value, { id }) {
    const condition = sql`${id} in (select i.id from vms i where i.instance_id = ${value} and i.deleted_at is null)`;
    return [{ set: condition, row: condition }];
  },
});
