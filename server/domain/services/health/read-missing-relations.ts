import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { UnitFacts } from '../unit-state/read-units.ts';

/** Returns the first relation that each unit's formula requires and its service does not have (EN-82). */
export async function readMissingRelations(
  tx: Transaction,
  units: readonly Pick<UnitFacts, 'id' | 'serviceId' | 'manifest'>[],
): Promise<Map<string, string>> {
  const needs = units.map(({ id, serviceId, manifest }) => {
    const required = Object.entries(manifest.requires).filter(([, { optional }]) => !optional);
    return { id, serviceId, names: required.map(([name]) => name).sort() };
  });
  const serviceIds = [...new Set(needs.flatMap(({ serviceId, names }) => (names.length === 0 ? [] : [serviceId])))];
  if (serviceIds.length === 0) return new Map();
  const { rows } = await tx.execute<{ service: string; name: string }>(sql`
    select e.service_id as service, e.name from relation_endpoints e join relations r on r.id = e.relation_id
     where e.service_id = any(${sql.param(serviceIds)}::uuid[]) and r.life = 'alive' and r.removed_at is null`);
  const present = new Set(rows.map(({ service, name }) => `${service}/${name}`));
  const missing = needs.map(({ id, serviceId, names }) => {
    return [id, names.find((name) => !present.has(`${serviceId}/${name}`))] as const;
  });
  return new Map(missing.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
}
