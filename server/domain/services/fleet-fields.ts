import { sql } from 'drizzle-orm';
import type { Context } from '#server/domain/context.ts';
import { fleetField } from '#server/domain/fleet/index.ts';

/** The VMs `vm_id` of units that are not removed, each with its `formula`. */
const placedUnits = sql`
  select u.vm_id, s.formula from units u join services s on s.id = u.service_id where u.removed_at is null`;

/** VMs that have a unit of a formula, whatever the unit's health is. */
export const unitOfField = fleetField({
  name: 'unitOf',
  parameter: 'unitOf',
  label: 'filter.unitOf',
  description: 'A formula, for the VMs that have a unit of it.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: 300 },
  of: 'vm',
  where(value, { id }) {
    const condition = sql`${id} in (select p.vm_id from (${placedUnits}) p where p.formula = ${value})`;
    return [{ set: condition, row: condition }];
  },
});

/** Counts the VMs that have a unit of each formula. Formulas without units are omitted. */
export async function countVmsByFormula({ db }: Context, formulas: readonly string[]): Promise<Map<string, number>> {
  if (formulas.length === 0) return new Map();
  const { rows } = await db.execute<{ formula: string; vms: number }>(sql`
    select p.formula, count(distinct p.vm_id)::int as vms
    from (${placedUnits}) p join vms v on v.id = p.vm_id and v.deleted_at is null
    where p.formula = any(${sql.param([...formulas])}::text[]) group by 1`);
  return new Map(rows.map(({ formula, vms }) => [formula, vms]));
}
