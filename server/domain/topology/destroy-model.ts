import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type DestroyModelInput, destroyModelInput } from './input.ts';
import { lockModel, type ModelRow, updateModel } from './model-rows.ts';
import { type Model, showModel } from './model-view.ts';
import { markRolesOf } from './open-roles.ts';

/**
 * Begins to destroy a model. The repair then deletes its machines, its cloud services, its network, its affinity group
 * and, last, what it keeps in its storage account. Without `force`, extensions are uninstalled first.
 * `beforeDestruction` is what a later module does first in the same transaction; it returns the VMs whose roles must
 * stay for now. Throws 404 `model_unknown`, 409 `model_confirmation`, 412 `model_changed`.
 */
export async function destroyModel(
  ctx: Context,
  input: DestroyModelInput,
  beforeDestruction: (tx: Transaction, model: ModelRow, force: boolean) => Promise<string[]> = async () => [],
): Promise<Model> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch, confirm, force } = parse(destroyModelInput, input);
  const row = await ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    if (confirm !== name) throw new DomainError('conflict', 'model_confirmation');
    if (model.life === 'destroying' && (model.forced || !force)) return model;
    const busy = await beforeDestruction(tx, model, force);
    const machines = await markRolesOf(tx, ctx, model.id, { forced: force, except: busy });
    await recordAudit(tx, ctx, {
      action: 'model.destroy',
      target: { kind: 'model', id: name },
      details: { machines: machines + busy.length, force },
    });
    return updateModel(tx, model, {
      life: 'destroying',
      destroyingAt: model.destroyingAt ?? ctx.now,
      destroyingBy: model.destroyingBy ?? ctx.actor.name,
      forced: force,
    });
  });
  return showModel(ctx, row);
}
