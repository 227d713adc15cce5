import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import type { UnitRelation } from '#protocol/unit-state.ts';

/** A member as the statement returns it. */
type MemberRow = [unit: string, version: number | null, clock: number];

interface RelationRow extends Record<string, unknown> {
  unitId: string;
  id: string;
  name: string;
  interface: string;
  life: UnitRelation['life'];
  clock: string;
  whole: boolean;
  members: MemberRow[];
}

/**
 * Reads the relations of units for the unit state. `after`: for each relation that the agent holds, the clock up to
 * which it holds it; of those, only members that moved since are listed. A clock above the portal’s is void, because
 * then the database was restored. A unit that leaves, and a relation that ends, have no members: what is due follows
 * from what the unit confirmed.
 */
export async function relationsOf(
  db: Database | Transaction,
  unitIds: readonly string[],
  after: ReadonlyMap<number, number>,
): Promise<Map<string, UnitRelation[]>> {
  if (unitIds.length === 0) return new Map();
  const { rows } = await db.execute<RelationRow>(sql`
    select p.unit_id as "unitId", r.id, e.name, r.interface, r.life, r.clock, held.clock is null as whole,
      coalesce(member.list, '[]') as members
      from relation_units p join relations r on r.id = p.relation_id
      join relation_endpoints e on e.relation_id = p.relation_id and e.side = p.side
      left join unnest(${sql.param([...after.keys()])}::bigint[], ${sql.param([...after.values()])}::bigint[])
        as held (relation_id, clock) on held.relation_id = r.id and held.clock <= r.clock
      cross join lateral (
        select json_agg(json_build_array(u.name, case when m.state = 'in' then m.version end, m.clock)
            order by m.clock, u.number) as list
          from relation_units m join units u on u.id = m.unit_id
         where m.relation_id = r.id and m.unit_id <> p.unit_id and (p.side = 'peer' or m.side <> p.side)
           and p.state = 'in' and r.life = 'alive'
           and m.clock > coalesce(held.clock, 0) and (m.state = 'in' or held.clock is not null)
      ) member
     where p.unit_id = any(${sql.param(unitIds)}::uuid[]) and p.state <> 'broken' and r.removed_at is null
     order by p.unit_id, r.id`);
  const relations = new Map<string, UnitRelation[]>(unitIds.map((id) => [id, []]));
  for (const { unitId, members, ...row } of rows) {
    relations.get(unitId)?.push({
      ...row,
      id: Number(row.id),
      clock: Number(row.clock),
      members: members.map(([unit, version, clock]) =>
        version === null ? { unit, left: true, clock } : { unit, version, clock },
      ),
    });
  }
  return relations;
}
