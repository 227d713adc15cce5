import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { actorRef } from '#server/domain/principal.ts';
import { hasSecrets } from '#server/domain/rollout-rules/run-input.ts';
import { recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type DefinitionInput, parseDefinition, type ReadDefinition, readDefinition } from './read-definition.ts';
import type { StoredRollout } from './rows.ts';
import { sealGiven } from './secrets.ts';
import { viewOf } from './show-rollout.ts';

/**
 * Creates a rollout as a draft, which changes nothing until it is planned and started. Throws 404 `strategy_unknown`,
 * 422 with every fault of the definition, 422 `secrets_custody`.
 */
export async function createRollout(ctx: Context, input: DefinitionInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const read = await readDefinition(ctx, parseDefinition(ctx, input));
  return ctx.db.transaction(async (tx) => viewOf(ctx, tx, await insertDraft(tx, ctx, read)));
}

/** Stores a draft. `of` is the rollout whose members it repeats. */
export async function insertDraft(
  tx: Transaction,
  ctx: Context,
  { name, note, kind, definition, given }: ReadDefinition,
  of: string | null = null,
): Promise<StoredRollout> {
  const id = uuid();
  const { change, startAt } = definition;
  const secrets = hasSecrets(change) ? await sealGiven(tx, ctx, { id, change }, given) : {};
  const [row] = await tx
    .insert(rollouts)
    .values({
      ...{ id, revision: 1, name, note, kind, state: 'draft', definition, handler: change.handler, of },
      ...secrets,
      ...{ epoch: ctx.epoch, createdAt: ctx.now, createdBy: ctx.actor.name },
      authors: { created: actorRef(ctx.actor), edited: null, planned: null },
      startAt: startAt === null ? null : new Date(startAt),
    })
    .returning();
  if (row === undefined) throw new Error('the rollout was not stored');
  await recordAct(tx, ctx, row, 'rollout.create', { of });
  await recordChange(tx, 'rollout', id);
  return row;
}
