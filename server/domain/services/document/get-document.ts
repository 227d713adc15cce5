import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { modelRef } from '#server/domain/topology/input.ts';
import { documentOf } from './document-of.ts';
import { readState } from './read-state.ts';
import type { ModelDocument } from './schema.ts';

const getDocumentInput = z.object({ model: modelRef });
export type GetDocumentInput = z.input<typeof getDocumentInput>;

/**
 * Returns a model as one document. Applied to the same model, it changes nothing (JU-39). Throws 404 `model_unknown`.
 */
export async function getDocument(
  ctx: Context,
  input: GetDocumentInput,
): Promise<{ document: ModelDocument; revision: number }> {
  allow(ctx.actor, 'operator');
  const { model: name } = parse(getDocumentInput, input);
  const state = await ctx.db.transaction((tx) => readState(tx, name), {
    ...{ isolationLevel: 'repeatable read', accessMode: 'read only' },
  });
  if (state === null) throw new DomainError('not_found', 'model_unknown');
  return { document: documentOf(state), revision: state.model.revision };
}
