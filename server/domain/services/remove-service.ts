import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { services, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow, updateModel } from '#server/domain/topology/index.ts';
import { type RemoveServiceInput, removeServiceInput } from './input.ts';
import { endRelationsOf } from './relations/index.ts';
import { requireService, type ServiceRow } from './service-rows.ts';
import { endServices } from './units/end-services.ts';
import { dismissUnits } from './units/leave.ts';

/**
 * Begins to remove a service with its relations and units. It ends with the last of them, and immediately if no agent
 * has fetched its units (EN-52). Throws 404 `model_unknown` | `service_unknown`, 412 `model_changed`.
 */
export async function removeService(ctx: Context, input: RemoveServiceInput): Promise<void> {
  allow(ctx.actor, 'operator');
  const { model: name, service: serviceName, force, ifMatch } = parse(removeServiceInput, input);
  await ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    await removeServiceIn(tx, ctx, model, { service: serviceName, force });
  });
}

/** Begins to remove a service of a locked model, as `removeService` does. Throws 404 `service_unknown`. */
export async function removeServiceIn(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  { service: name, force }: { service: string; force: boolean },
): Promise<void> {
  const service = await requireService(tx, model.id, name);
  if (service.life === 'dying' && !force) return;
  const left = await dismissService(tx, ctx, service, force);
  await recordAudit(tx, ctx, {
    action: 'service.remove',
    target: { kind: 'model', id: model.name },
    before: { service: name, formula: service.formula, version: service.formulaVersion },
    details: { service: name, units: left, force },
  });
  await updateModel(tx, model);
}

/** Begins to remove a service. Returns how many units it had. The caller has locked the model. */
export async function dismissService(
  tx: Transaction,
  ctx: Context,
  { id, dyingAt }: ServiceRow,
  force: boolean,
): Promise<number> {
  await tx
    .update(services)
    .set({ life: 'dying', dyingAt: dyingAt ?? ctx.now })
    .where(eq(services.id, id));
  const { endedServices } = await endRelationsOf(tx, ctx, id);
  const members = await tx
    .select()
    .from(units)
    .where(and(eq(units.serviceId, id), isNull(units.removedAt)))
    .orderBy(units.number);
  await dismissUnits(tx, ctx, members, force);
  await endServices(tx, ctx, [id, ...endedServices]);
  return members.length;
}
