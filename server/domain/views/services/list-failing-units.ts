import { and, eq, isNull, sql } from 'drizzle-orm';
import { relations, services, units } from '#db/schema/index.ts';
import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { FailingHook } from '#server/domain/service-rules/stored.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { type FailingUnitsInput, failingUnitsInput } from '../input.ts';
import { failingState } from './failing-state.ts';
import { readHookReasons } from './read-hook-reasons.ts';
import type { FailingUnit } from './service-state.ts';

/**
 * Lists the units whose hook of a relation fails, each with this hook and the reason in the reader's language. Throws
 * 404 `model_unknown` | `relation_unknown`.
 */
export async function listFailingUnits(ctx: Context, input: FailingUnitsInput): Promise<{ items: FailingUnit[] }> {
  allow(ctx.actor, 'viewer');
  const { model: name, number, ...reader } = parse(failingUnitsInput, input);
  const { id: modelId } = await readModel(ctx.db, name);
  return ctx.db.transaction(async (tx) => {
    const [relation] = await tx
      .select({ id: relations.id })
      .from(relations)
      .where(and(eq(relations.modelId, modelId), eq(relations.number, number)));
    if (relation === undefined) throw new DomainError('not_found', 'relation_unknown', { params: { number } });
    const key = String(relation.id);
    const rows = await tx
      .select({
        ...{ unit: units.name, service: services.name, formula: services.formula, resolutions: units.resolutions },
        vmId: units.vmId,
        hook: sql<FailingHook>`${units.failing} -> ${key}::text`,
      })
      .from(units)
      .innerJoin(services, eq(services.id, units.serviceId))
      .where(and(eq(units.modelId, modelId), isNull(units.removedAt), sql`${units.failing} ? ${key}::text`))
      .orderBy(services.name, units.number);
    const failed = rows.map(({ vmId, hook, formula }) => ({ vmId, run: hook.run, formula }));
    const reasons = await readHookReasons(tx, failed, negotiate(reader));
    return {
      items: rows.map(({ vmId: _, hook, resolutions, ...unit }) => {
        return { ...unit, failing: [failingState(hook, resolutions, reasons)] };
      }),
    };
  });
}
