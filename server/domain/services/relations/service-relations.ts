import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { relationEndpoints, relations } from '#db/schema/index.ts';
import type { FormulaManifest } from '#protocol/formula.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { endRelations, lockRelations } from './break-relations.ts';
import { type Creating, countRelations, createRelation } from './create-relation.ts';
import type { Moving } from './move-units.ts';
import { raiseHeads } from './raise-heads.ts';

/**
 * Creates the peer relations that a service’s formula declares, and begins to end those that it no longer declares.
 * Call it when the service is deployed and when its formula’s version changes, with the model and the service locked.
 * Throws 409 `relations_too_many`, because an agent accepts no unit state with more.
 */
export async function setPeerRelations(
  tx: Transaction,
  ctx: Creating,
  { id: serviceId, modelId }: { id: string; modelId: string },
  { peers }: Pick<FormulaManifest, 'peers'>,
): Promise<void> {
  const present = await tx
    .select({ id: relations.id, name: relationEndpoints.name, interface: relations.interface })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(
      and(
        eq(relationEndpoints.serviceId, serviceId),
        eq(relationEndpoints.side, 'peer'),
        eq(relations.life, 'alive'),
        isNull(relations.removedAt),
      ),
    );
  const isDeclared = (one: (typeof present)[number]) => peers[one.name]?.interface === one.interface;
  await dismissRelations(
    tx,
    ctx,
    present.filter((one) => !isDeclared(one)).map(({ id }) => id),
  );
  const kept = new Set(present.filter(isDeclared).map(({ name }) => name));
  const added = Object.entries(peers).filter(([name]) => !kept.has(name));
  const { relationsOfUnit: limit } = unitLimits;
  if (added.length > 0 && (await countRelations(tx, serviceId)) + added.length > limit)
    throw new DomainError('conflict', 'relations_too_many', { params: { limit } });
  for (const [name, { interface: spoken }] of added.sort(([a], [b]) => (a < b ? -1 : 1))) {
    await createRelation(tx, ctx, { modelId, interface: spoken, sides: [{ side: 'peer', serviceId, name }] });
  }
}

/** Begins to end all relations of a service that is removed. Returns the services with a relation that ended. */
export async function endRelationsOf(
  tx: Transaction,
  ctx: Moving,
  serviceId: string,
): Promise<{ endedServices: string[] }> {
  const rows = await tx
    .select({ id: relations.id })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(and(eq(relationEndpoints.serviceId, serviceId), eq(relations.life, 'alive'), isNull(relations.removedAt)));
  return {
    endedServices: await dismissRelations(
      tx,
      ctx,
      rows.map(({ id }) => id),
    ),
  };
}

/**
 * Begins to end relations: each ends when all participants have run their last hooks, and one without participants ends
 * in this transaction. Returns the services of the ended ones.
 */
export async function dismissRelations(tx: Transaction, ctx: Moving, ids: readonly number[]): Promise<string[]> {
  if (ids.length === 0) return [];
  await lockRelations(tx, ids);
  const all = sql`${sql.param(ids)}::bigint[]`;
  await tx.execute(sql`
    update relations set life = 'dying', dying_at = ${ctx.now.toISOString()}::timestamptz
     where id = any(${all}) and life = 'alive'`);
  const { rows } = await tx.execute<{ vmId: string }>(sql`
    select distinct u.vm_id as "vmId" from relation_units p join units u on u.id = p.unit_id
     where p.relation_id = any(${all}) and p.state <> 'broken'`);
  await raiseHeads(
    tx,
    ctx,
    rows.map(({ vmId }) => vmId),
  );
  await recordChanges(tx, 'relation', ids.map(String));
  return endRelations(tx, ctx, ids);
}
