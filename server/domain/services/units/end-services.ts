import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Locks the services of units and those that are related to them, in the order of their ids. */
export async function lockServicesOf(tx: Transaction, unitIds: readonly string[]): Promise<void> {
  if (unitIds.length === 0) return;
  await tx.execute(sql`
    with own as (select distinct service_id as id from units where id = any(${sql.param(unitIds)}::uuid[]))
    select from services s where s.id in (
      select id from own union
      select o.service_id from relation_endpoints e join relation_endpoints o using (relation_id)
       where e.service_id in (select id from own))
     order by s.id for no key update`);
}

/**
 * Removes services that are dying and have neither units nor relations left. Call it whenever a unit or a relation of
 * them has ended.
 */
export async function endServices(
  tx: Transaction,
  { now }: Pick<Context, 'now'>,
  serviceIds: readonly string[],
): Promise<void> {
  if (serviceIds.length === 0) return;
  const ids = sql`${sql.param([...new Set(serviceIds)])}::uuid[]`;
  // A separate statement, so that if the last two units end at the same time, the later one sees the other.
  await tx.execute(sql`select from services where id = any(${ids}) order by id for no key update`);
  const { rows } = await tx.execute<{ model: string }>(sql`
    update services s set removed_at = ${now.toISOString()}::timestamptz from models m
     where m.id = s.model_id and s.id = any(${ids}) and s.life = 'dying' and s.removed_at is null
       and not exists (select from units u where u.service_id = s.id and u.removed_at is null)
       and not exists (select from relation_endpoints e join relations r on r.id = e.relation_id
                        where e.service_id = s.id and r.removed_at is null)
    returning m.name as model`);
  await recordChanges(tx, 'model', [...new Set(rows.map(({ model }) => model))]);
}
