import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow, updateModel } from '#server/domain/topology/index.ts';
import { type RemoveUnitInput, removeUnitInput } from './input.ts';
import { advanceUnits } from './units/advance-units.ts';
import { dismissUnits } from './units/leave.ts';

/**
 * Begins to remove a unit: its agent runs the last hooks. With `force`, the unit is removed without its agent (EN-53),
 * and so is a unit that no agent has fetched (EN-52). Throws 404 `model_unknown` | `unit_unknown`, 412 `model_changed`.
 */
export async function removeUnit(ctx: Context, input: RemoveUnitInput): Promise<void> {
  allow(ctx.actor, 'operator');
  const { model: name, unit: unitName, force, ifMatch } = parse(removeUnitInput, input);
  const serviceId = await ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    return removeUnitIn(tx, ctx, model, { unit: unitName, force });
  });
  // Others may have waited for the unit to confirm its versions.
  if (serviceId !== null) await ctx.db.transaction((tx) => advanceUnits(tx, ctx, serviceId));
}

/**
 * Begins to remove a unit of a locked model, as `removeUnit` does. Returns the unit’s service, whose other units may
 * continue now; null if the unit already leaves. Throws 404 `unit_unknown`.
 */
export async function removeUnitIn(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  { unit: name, force }: { unit: string; force: boolean },
): Promise<string | null> {
  const [unit] = await tx
    .select()
    .from(units)
    .where(and(eq(units.modelId, model.id), eq(units.name, name)));
  if (unit === undefined || unit.removedAt !== null) throw new DomainError('not_found', 'unit_unknown');
  if (unit.life === 'dying' && !force) return null;
  await dismissUnits(tx, ctx, [unit], force);
  await recordAudit(tx, ctx, {
    action: 'unit.remove',
    target: { kind: 'model', id: model.name },
    vmId: unit.vmId,
    details: { unit: name, force },
  });
  await updateModel(tx, model);
  return unit.serviceId;
}
