import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow, requireAlive, updateModel } from '#server/domain/topology/index.ts';
import { findRelation } from './find-relation.ts';
import { type RemoveRelationInput, removeRelationInput } from './input.ts';
import { type Relation, showRelation } from './relation-view.ts';
import { dismissRelations } from './service-relations.ts';

/**
 * Begins to end a relation. Its units run their hooks `departed` and `broken`, and the relation ends with the last of
 * them; without participants, it ends in this call. A relation that is ending stays as it is. Throws 404
 * `model_unknown` | `relation_unknown`, 409 `model_dying` | `relation_is_peer`, 412 `model_changed`.
 */
export async function removeRelation(ctx: Context, input: RemoveRelationInput): Promise<Relation> {
  allow(ctx.actor, 'operator');
  const { model: name, number, ifMatch } = parse(removeRelationInput, input);
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    requireAlive(model);
    return removeRelationIn(tx, ctx, model, number);
  });
}

/** Begins to end a relation of a locked model, as `removeRelation` does. */
export async function removeRelationIn(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  number: number,
): Promise<Relation> {
  const row = await findRelation(tx, model.id, number);
  const before = await showRelation({ db: tx, now: ctx.now }, row);
  if (row.life === 'dying') return before;
  if (before.endpoints.some(({ side }) => side === 'peer')) throw new DomainError('conflict', 'relation_is_peer');
  await dismissRelations(tx, ctx, [row.id]);
  const endpoints = before.endpoints.map((one) => `${one.service}:${one.name}`);
  await recordAudit(tx, ctx, {
    action: 'relation.remove',
    target: { kind: 'model', id: model.name },
    before: { number, interface: row.interface, endpoints },
    details: { endpoints: endpoints.join(' '), number },
  });
  await updateModel(tx, model);
  return showRelation({ db: tx, now: ctx.now }, row);
}
