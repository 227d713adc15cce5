import type { Database, Transaction } from '#db/client.ts';
import { runPrepared } from '#db/run-prepared.ts';
import type { UnitRelation } from '#protocol/unit-state.ts';

/** A member as the statement returns it. */
type MemberRow = [unit: string, version: number | null, clock: number, since: number | null];

interface RelationRow {
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
 * The relations of the units $1. $2 and $3 are the relations that the agent holds, and their clocks.
 *
 * The index on relation, side and clock leads to the members that moved. What is read of each of them is limited to one
 * row, so that PostgreSQL looks it up by its key, and never reads all units or all members instead. The parameters are
 * in subqueries, so that no estimate depends on their lengths, and PostgreSQL keeps one plan.
 */
const relationsStatement = {
  name: 'relations-of-units',
  text: `
select p.unit_id as "unitId", r.id, e.name, r.interface, r.life, r.clock, held.clock is null as whole,
  coalesce(member.list, '[]') as members
  from relation_units p join relations r on r.id = p.relation_id
  join relation_endpoints e on e.relation_id = p.relation_id and e.side = p.side
  left join unnest((select $2::bigint[]), (select $3::bigint[])) as held (relation_id, clock)
    on held.relation_id = r.id and held.clock between p.moved_clock and r.clock
  cross join lateral (
    select json_agg(json_build_array(u.name, case when m.state = 'in' then m.version end, m.clock,
        first.clock) order by m.clock, u.number) as list
      from relation_units m
      cross join lateral (select name, number from units where id = m.unit_id limit 1) u
      left join lateral (
        select unit_id, version from relation_seen
         where relation_id = m.relation_id and unit_id = p.unit_id and remote_unit_id = m.unit_id limit 1
      ) s on true
      left join lateral (
        select l.clock from relation_log l
         where m.state = 'in' and s.version is distinct from m.version
           and l.relation_id = m.relation_id and l.unit_id = m.unit_id and l.version > coalesce(s.version, 0)
         order by l.version, l.clock limit 1
      ) first on true
     where m.relation_id = r.id and m.unit_id <> p.unit_id and m.clock > coalesce(held.clock, 0)
       and m.side = case p.side when 'provides' then 'requires' when 'requires' then 'provides' else p.side end
       and case when m.state = 'in' then p.state = 'in' and r.life = 'alive'
         else (held.clock is not null or s.unit_id is not null) and (m.state = 'left' or (
           select true from relation_log l
            where l.relation_id = m.relation_id and l.unit_id = m.unit_id and l.kind = 'left' limit 1)) end
  ) member
 where p.unit_id = any((select $1::uuid[])::uuid[]) and p.state <> 'broken' and r.removed_at is null
 order by p.unit_id, r.id`,
};

/**
 * Reads the relations of units for the unit state. `after`: for each relation that the agent holds, the clock up to
 * which it holds it; of those, only members that moved since are listed. A clock above the portal’s is ignored, because
 * the database was then restored, and so is a clock from before a swap moved the unit into or out of the relation. A
 * unit that leaves, and a relation that ends, have no current members: what is due
 * follows from what the unit confirmed. Units that left are listed if they are news, or if their departure is not
 * confirmed. `since` of a member is the clock of the first change that the unit has not confirmed, so that its hook
 * keeps its place when the member changes again (EN-36).
 */
export async function relationsOf(
  db: Database | Transaction,
  unitIds: readonly string[],
  after: ReadonlyMap<number, number>,
): Promise<Map<string, UnitRelation[]>> {
  if (unitIds.length === 0) return new Map();
  const held = [[...after.keys()], [...after.values()]];
  const rows = await runPrepared<RelationRow>(db, relationsStatement, [unitIds, ...held]);
  const relations = new Map<string, UnitRelation[]>(unitIds.map((id) => [id, []]));
  for (const { unitId, members, ...row } of rows) {
    relations.get(unitId)?.push({
      ...row,
      id: Number(row.id),
      clock: Number(row.clock),
      members: members.map(([unit, version, clock, since]) =>
        version === null ? { unit, left: true, clock } : { unit, version, clock, ...(since !== null && { since }) },
      ),
    });
  }
  return relations;
}
