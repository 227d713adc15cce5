import { v7 as uuid } from 'uuid';
import { models } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { availabilitySetsByDefault, changeMode } from '#server/domain/topology-rules/models.ts';
import { affinityGroupName, networkName } from '#server/domain/topology-rules/names.ts';
import { type ChangeModelInput, type CreateModelInput, changeModelInput, createModelInput } from './input.ts';
import { lockModel, requireAlive, updateModel } from './model-rows.ts';
import { type Model, showModel } from './model-view.ts';

/** Creates a model, which has nothing until its bootstrap. Throws 409 `model_name_taken`. */
export async function createModel(ctx: Context, input: CreateModelInput): Promise<Model> {
  allow(ctx.actor, 'operator');
  const { availabilitySetsEnabled = availabilitySetsByDefault, ...given } = parse(createModelInput, input);
  const { name } = given;
  const row = await ctx.db.transaction(async (tx) => {
    const [created] = await tx
      .insert(models)
      .values({
        ...{ id: uuid(), ...given, availabilitySetsEnabled, life: 'alive' },
        ...{ affinityGroup: affinityGroupName(name), network: networkName(name) },
        ...{ createdAt: ctx.now, createdBy: ctx.actor.name },
      })
      .onConflictDoNothing()
      .returning();
    if (created === undefined) throw new DomainError('conflict', 'model_name_taken', { params: { name } });
    await recordAudit(tx, ctx, {
      action: 'model.create',
      target: { kind: 'model', id: name },
      after: { ...given, availabilitySetsEnabled },
    });
    await recordChange(tx, 'model', name);
    return created;
  });
  return showModel(ctx, row);
}

/**
 * Changes whether a model uses availability sets. After the bootstrap, only the current value is accepted. Throws 404
 * `model_unknown`, 409 `model_dying` | `availability_sets_frozen`, 412 `model_changed`.
 */
export async function changeModel(ctx: Context, input: ChangeModelInput): Promise<Model> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch, availabilitySetsEnabled: to } = parse(changeModelInput, input);
  const row = await ctx.db.transaction(async (tx) => {
    const before = await lockModel(tx, name, ifMatch);
    requireAlive(before);
    const { availabilitySetsEnabled } = before;
    // A bootstrap that is running has already used the current value.
    const isBootstrapped = before.bootstrappedAt !== null || before.leaseUntil !== null;
    const changed = changeMode({ availabilitySetsEnabled, isBootstrapped }, to);
    if ('refusal' in changed) throw new DomainError('conflict', changed.refusal);
    if (to === availabilitySetsEnabled) return before;
    await recordAudit(tx, ctx, {
      action: 'model.change',
      target: { kind: 'model', id: name },
      before: { availabilitySetsEnabled },
      after: changed,
    });
    return updateModel(tx, before, changed);
  });
  return showModel(ctx, row);
}
