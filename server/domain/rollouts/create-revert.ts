import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { actorRef } from '#server/domain/principal.ts';
import type { Definition, RolloutChange, Selection } from '#server/domain/rollout-rules/stored.ts';
import { revertStrategy } from '#server/domain/rollout-rules/strategies.ts';
import { recordAct } from './act-on.ts';
import { followName } from './follow-name.ts';
import { changeRollout, type StoredRollout } from './rows.ts';

/** Which members of a rollout to revert, and whether the revert starts as soon as it is planned. */
export interface RevertTerms {
  ring?: number | undefined;
  only?: 'failed' | undefined;
  start?: boolean | undefined;
}

/**
 * Creates the revert of a locked rollout and requests its plan. A revert that starts as soon as it is planned has
 * `startedBy` while its state is still `planning`; the worker that plans it then starts the check. The caller aborts
 * the rollout first if it is open.
 */
export async function createRevertIn(
  tx: Transaction,
  ctx: Context,
  of: StoredRollout,
  { ring, only, start = false }: RevertTerms = {},
): Promise<StoredRollout> {
  const author = actorRef(ctx.actor);
  const [row] = await tx
    .insert(rollouts)
    .values({
      id: uuid(),
      revision: 1,
      name: followName(of.name, 'revert'),
      kind: 'revert',
      state: 'planning',
      definition: revertDefinition(of, { ring, only }),
      handler: of.handler,
      ...{ planning: 1, plannedBy: ctx.actor.name, epoch: ctx.epoch, dueAt: ctx.now, of: of.id },
      ...{ createdAt: ctx.now, createdBy: ctx.actor.name },
      authors: { created: author, edited: null, planned: author },
      startedBy: start ? ctx.actor.name : null,
    })
    .returning();
  if (row === undefined) throw new Error('the revert was not stored');
  await changeRollout(tx, of, { revertedBy: row.id });
  await recordAct(tx, ctx, of, 'rollout.revert', { revert: row.id, ring: ring ?? null, only: only ?? null, start });
  await recordChange(tx, 'rollout', row.id);
  return row;
}

/**
 * A revert has one ring and no gate that could keep it from the end. It takes the limits of the reverted rollout's last
 * ring.
 */
export function revertDefinition(
  { id, definition }: Pick<StoredRollout, 'id' | 'definition'>,
  { ring, only }: RevertTerms,
): Definition {
  const { inFlight } = definition.rings.at(-1)?.gates ?? {};
  const { keepDays, availabilitySets, noProgressSeconds, stepsPerSecond } = definition;
  return {
    ...revertStrategy,
    strategy: 'revert',
    select: selectionOf(id, { ring, only }),
    change: revertChange,
    rings: revertStrategy.rings.map((of) => ({ ...of, gates: { ...of.gates, ...(inFlight && { inFlight }) } })),
    windows: [],
    silent: 'wait',
    ...{ keepDays, availabilitySets, noProgressSeconds, stepsPerSecond },
    // Each member is checked at its step, so changes to other VMs do not delay a revert.
    maxMovedShare: 10_000,
    startAt: null,
  };
}

const selectionOf = (rollout: string, { ring, only }: RevertTerms): Selection => ({
  include: { rollout, ...(only === 'failed' && { step: ['failed'] }) },
  ...(ring !== undefined && { ring }),
});

const revertChange: RolloutChange = {
  kind: 'revert',
  ...{ handler: null, extension: null, version: null, state: null },
  ...{ autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null },
  ...{ publicSettings: null, protectedSettings: null },
  ...{ onAbsent: 'skip', allowLower: true, asOf: null },
};
