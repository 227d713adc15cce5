import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { destroyModel, type ModelRow } from '#server/domain/topology/index.ts';

/** A model that an apply created. `revision`: that after the bootstrap; null if the bootstrap failed. */
export interface CreatedModel {
  name: string;
  createdAt: string;
  revision: number | null;
}

/**
 * Destroys a model that an apply created, after the rest of the apply failed. If someone has changed the model since,
 * it is kept, and the error says so in addition to the reason of the failure. Returns the error to throw.
 */
export async function undoCreation(ctx: Context, created: CreatedModel, reason: unknown): Promise<unknown> {
  const { name } = created;
  try {
    await destroyModel(ctx, { model: name, confirm: name, force: true }, async (_, model) => {
      if (!isUntouched(model, created)) throw new ModelInUse();
      return [];
    });
    return reason;
  } catch (error) {
    if (isGone(error) || !(reason instanceof DomainError)) return reason;
    if (!(error instanceof ModelInUse)) throw error;
    const { kind, code, params, faults } = reason;
    const reasons = faults.length > 0 ? faults : [{ path: '', code, params }];
    return new DomainError(kind, 'document_model_kept', { params: { model: name }, faults: reasons, cause: reason });
  }
}

class ModelInUse extends Error {
  override readonly name = 'ModelInUse';
}

const isGone = (error: unknown): boolean => error instanceof DomainError && error.code === 'model_unknown';

/** Whether a locked model is as the apply left it. Before its bootstrap, a model can contain nothing. */
function isUntouched(model: ModelRow, { createdAt, revision }: CreatedModel): boolean {
  if (model.createdAt.toISOString() !== createdAt || model.life !== 'alive') return false;
  if (revision !== null) return model.revision === revision;
  return model.bootstrappedAt === null && model.leaseUntil === null;
}
