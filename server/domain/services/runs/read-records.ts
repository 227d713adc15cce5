import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import type { RelationRecord, UnitRecord } from '#protocol/unit-record.ts';
import type { UnitFacts } from '../unit-state/read-units.ts';

/**
 * Returns what units have confirmed, as their agents have it on disk, from the runs of hooks. The time of the next
 * attempt of a hook that failed is known only to the agent.
 */
export async function readRecords(
  db: Database | Transaction,
  units: readonly Pick<UnitFacts, 'id' | 'record' | 'skipped'>[],
): Promise<Map<string, UnitRecord>> {
  const relations = await readRelationRecords(
    db,
    units.map(({ id }) => id),
  );
  return new Map(
    units.map(({ id, record, skipped }) => [
      id,
      {
        ...record,
        relations: relations.get(id) ?? {},
        failing: {},
        skipped: skipped.map(({ hook }) => hook),
      },
    ]),
  );
}

async function readRelationRecords(
  db: Database | Transaction,
  unitIds: readonly string[],
): Promise<Map<string, Record<string, RelationRecord>>> {
  const records = new Map<string, Record<string, RelationRecord>>();
  if (unitIds.length === 0) return records;
  const { rows } = await db.execute<{
    unit: string;
    relation: string;
    name: string;
    broken: boolean;
    members: RelationRecord['members'] | null;
  }>(sql`
    select p.unit_id as unit, p.relation_id as relation, e.name, p.state = 'broken' as broken, (
        select jsonb_object_agg(u.name, s.version) from relation_seen s join units u on u.id = s.remote_unit_id
         where s.relation_id = p.relation_id and s.unit_id = p.unit_id) as members
      from relation_units p
      join relations r on r.id = p.relation_id
      join relation_endpoints e on e.relation_id = p.relation_id and e.side = p.side
     where p.unit_id = any(${sql.param(unitIds)}::uuid[]) and r.removed_at is null`);
  for (const { unit, relation, name, broken, members } of rows) {
    const known = records.get(unit) ?? {};
    records.set(unit, { ...known, [relation]: { name, members: broken ? {} : (members ?? {}), broken } });
  }
  return records;
}
