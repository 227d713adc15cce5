import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { hasSecrets } from '#server/domain/rollout-rules/run-input.ts';
import type { Definition, RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { hasEffect } from './acts.ts';
import type { RolloutView } from './answers.ts';
import { insertDraft } from './create-rollout.ts';
import { followName } from './follow-name.ts';
import { type RetryRolloutInput, retryRolloutInput } from './input.ts';
import { lockRollout, type StoredRollout } from './rows.ts';
import { openGiven, secretsPath } from './secrets.ts';
import { viewOf } from './show-rollout.ts';

/**
 * Creates a draft for the members of a rollout that failed, were not reached or were skipped. Members that failed get
 * the next sequence number of what they have; the others get the change that they have not had. Throws 404
 * `rollout_unknown`, 409 `rollout_state`, 422 `secrets_required` if the change had protected settings that are deleted.
 */
export async function retryRollout(ctx: Context, input: RetryRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, of } = parse(retryRolloutInput, input);
  return ctx.db.transaction(async (tx) => {
    const row = await lockRollout(tx, id);
    hasEffect('retry', row.state);
    return viewOf(ctx, tx, await insertRetry(tx, ctx, row, of));
  });
}

async function insertRetry(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  of: 'failed' | 'unreached' | 'skipped',
): Promise<StoredRollout> {
  const change = of === 'failed' ? repeated(row.definition.change) : row.definition.change;
  const given = hasSecrets(change) ? requireGiven(ctx, row) : undefined;
  const definition: Definition = {
    ...row.definition,
    select: { include: { rollout: row.id, step: [of] } },
    ...{ change, newcomers: 'ignore', startAt: null },
  };
  const name = followName(row.name, of);
  return insertDraft(tx, ctx, { name, note: null, kind: 'rollout', definition, given }, row.id);
}

/** The change that gives the members of a rollout a further attempt at what they have. Removals and runs are repeated as they are. */
const repeated = (change: RolloutChange): RolloutChange =>
  change.kind === 'remove' || change.handler === null
    ? change
    : {
        ...change,
        kind: 'retry',
        ...{ version: null, state: null, autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null },
        ...{ publicSettings: null, protectedSettings: null, onAbsent: 'skip' },
      };

function requireGiven(ctx: Context, row: StoredRollout): unknown {
  const given = openGiven(ctx, row);
  if (given !== undefined) return given;
  const faults = [{ path: secretsPath(row.definition.change), code: 'secrets_required' as const }];
  throw new DomainError('unprocessable', 'secrets_required', { faults });
}
