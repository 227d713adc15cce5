import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { actorRef } from '#server/domain/principal.ts';
import type { Change, Definition, Gates, Selection } from '#server/domain/rollout-rules/stored.ts';
import { recordAct } from './act-on.ts';
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
      name: `${of.name.slice(0, 180)} (revert)`,
      kind: 'revert',
      state: 'planning',
      definition: definitionOf(of, { ring, only }),
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

/** A revert has one ring, in the order of the reverted rollout, and no gate that could keep it from the end. */
function definitionOf({ id, definition }: StoredRollout, { ring, only }: RevertTerms): Definition {
  const gates = definition.rings.at(-1)?.gates;
  return {
    strategy: 'revert',
    select: selectionOf(id, { ring, only }),
    change: revertChange,
    rings: [
      {
        name: 'all',
        filter: null,
        upTo: { share: 10_000 },
        approval: false,
        windows: [],
        gates: { ...revertGates, inFlight: gates?.inFlight ?? revertGates.inFlight },
      },
    ],
    windows: [],
    silent: 'wait',
    newcomers: 'ignore',
    keepDays: definition.keepDays,
    availabilitySets: definition.availabilitySets,
    onStepFailure: 'leave',
    onHalt: 'pause',
    retry: { times: 0, afterSeconds: 0, causes: [] },
    // Each member is checked at its step, so that no movement of others delays a revert.
    maxMovedShare: 10_000,
    noProgressSeconds: definition.noProgressSeconds,
    stepsPerSecond: definition.stepsPerSecond,
    startAt: null,
  };
}

const selectionOf = (rollout: string, { ring, only }: RevertTerms): Selection => ({
  include: { rollout, ...(only === 'failed' && { step: ['failed'] }) },
  ...(ring !== undefined && { ring }),
});

const revertChange: Change = {
  kind: 'revert',
  ...{ handler: null, extension: null, version: null, state: null },
  ...{ autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null },
  ...{ publicSettings: null, protectedSettings: null },
  ...{ onAbsent: 'skip', allowLower: true, asOf: null },
};

const revertGates: Gates = {
  inFlight: { count: 200 },
  ...{ ramp: false, soakSeconds: 0, settleSeconds: 600, bakeSeconds: 0 },
  ...{ errors: null, success: null, compare: null },
};
