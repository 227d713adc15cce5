import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import type { ModelRow } from '#server/domain/topology/index.ts';

/** SQL: whether a VM is in Staging. `vmId` is SQL for its id. */
export const isStagedSql = (vmId: SQL): SQL<boolean> => sql<boolean>`exists (
  select from vm_roles g join deployments d on d.cloud_service = g.cloud_service and d.name = g.deployment
   where g.vm_id = ${vmId} and d.slot = 'staging')`;

/** SQL: whether a unit is in Staging, in a query on `units`. */
export const isStagedUnitSql = isStagedSql(sql.raw('units.vm_id'));

/**
 * SQL: whether a unit counts toward the units that its service should have: it is in Production and does not leave. In a
 * model without availability sets, each machine has its own cloud service, so every unit counts.
 */
export const livingInProduction = (
  { availabilitySetsEnabled }: Pick<ModelRow, 'availabilitySetsEnabled'>,
  serviceId: string,
): SQL | undefined =>
  and(
    ...[eq(units.serviceId, serviceId), eq(units.life, 'alive'), isNull(units.removedAt)],
    availabilitySetsEnabled ? sql`not ${isStagedUnitSql}` : undefined,
  );

/** Whether a VM is in Staging. */
export async function isStaged(tx: Transaction, vmId: string): Promise<boolean> {
  const { rows } = await tx.execute<{ staged: boolean }>(sql`select ${isStagedSql(sql`${vmId}::uuid`)} as staged`);
  return rows[0]?.staged === true;
}

/** Whether a service has units in Staging that do not leave. */
export async function hasStagedUnits(db: Pick<Transaction, 'execute'>, serviceId: string): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(sql`
    select exists (select from units where service_id = ${serviceId} and life = 'alive' and removed_at is null
      and ${isStagedUnitSql}) as found`);
  return rows[0]?.found === true;
}
