import { and, count, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { relationEndpoints, relations, units } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Side } from '#server/domain/service-rules/words.ts';
import { isStagedUnitSql } from '../staging/slot.ts';
import { joinUnits } from './move-units.ts';
import { raiseHeads } from './raise-heads.ts';

export type RelationRow = typeof relations.$inferSelect;

/** A relation to create: its sides with the services and the endpoints’ names. */
interface NewRelation {
  modelId: string;
  interface: string;
  sides: readonly { side: Side; serviceId: string; name: string }[];
}

export type Creating = Pick<Context, 'now'> & { actor: Pick<Context['actor'], 'name'> };

/**
 * Creates a relation, which all units that have started enter. The caller has locked the model and the services, so
 * units that start meanwhile wait and then enter the relation too.
 */
export async function createRelation(tx: Transaction, ctx: Creating, given: NewRelation): Promise<RelationRow> {
  const { modelId, sides } = given;
  const [row] = await tx
    .insert(relations)
    .values({
      ...{ modelId, interface: given.interface, life: 'alive', movedAt: ctx.now },
      number: sql`(select coalesce(max(number), 0) + 1 from relations where model_id = ${modelId})`,
      ...{ createdAt: ctx.now, createdBy: ctx.actor.name },
    })
    .returning();
  if (row === undefined) throw new Error('the relation was not stored');
  await tx.insert(relationEndpoints).values(sides.map((one) => ({ relationId: row.id, ...one })));
  const members = await lockStarted(
    tx,
    sides.map(({ serviceId }) => serviceId),
  );
  const sideOf = new Map(sides.map(({ serviceId, side }) => [serviceId, side]));
  const entering = members.flatMap(({ id: unitId, serviceId, staged }) => {
    const side = sideOf.get(serviceId);
    return side === undefined || (side === 'provides' && staged) ? [] : [{ relationId: row.id, unitId, side }];
  });
  await joinUnits(tx, ctx, entering, null);
  await raiseHeads(
    tx,
    ctx,
    members.map(({ vmId }) => vmId),
  );
  await recordChange(tx, 'relation', String(row.id));
  return row;
}

/** Locks the started units of services, so that none leaves before the commit. */
function lockStarted(tx: Transaction, serviceIds: readonly string[]) {
  return tx
    .select({ id: units.id, serviceId: units.serviceId, vmId: units.vmId, staged: isStagedUnitSql })
    .from(units)
    .where(
      and(
        inArray(units.serviceId, [...serviceIds]),
        isNotNull(units.enteredAt),
        eq(units.life, 'alive'),
        isNull(units.removedAt),
      ),
    )
    .orderBy(units.id)
    .for('share');
}

/** Counts the relations that use an endpoint of a service, including those that are ending. */
export async function countRelations(tx: Transaction, serviceId: string, name?: string): Promise<number> {
  const [found] = await tx
    .select({ all: count() })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(
      and(
        eq(relationEndpoints.serviceId, serviceId),
        name === undefined ? undefined : eq(relationEndpoints.name, name),
        isNull(relations.removedAt),
      ),
    );
  return found?.all ?? 0;
}
