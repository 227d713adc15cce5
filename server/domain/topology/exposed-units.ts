import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { endpoints } from '#db/schema/index.ts';

/** Whether the service of the unit that opened an endpoint is exposed, as a column of a query on `endpoints`. */
export const isExposedSql = sql<boolean>`exists (
  select from units n join services s on s.id = n.service_id
   where n.vm_id = ${endpoints.vmId} and 'unit:' || n.name = ${endpoints.source} and n.removed_at is null and s.exposed)`;

/** Returns the units on roles of these cloud services whose services are exposed. */
export async function readExposedUnits(
  db: Database | Transaction,
  services: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ name: string }>(sql`
    select n.name from vm_roles r join units n on n.vm_id = r.vm_id and n.removed_at is null
      join services s on s.id = n.service_id and s.exposed
     where r.cloud_service = any(${sql.param(services)}::text[])`);
  return new Set(rows.map(({ name }) => name));
}
