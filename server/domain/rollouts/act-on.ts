import type { Transaction } from '#db/client.ts';
import type { ActionCode } from '#server/domain/audit/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { hasEffect, type RolloutAct } from './acts.ts';
import type { RolloutView } from './answers.ts';
import { lockRollout, type StoredRollout } from './rows.ts';
import { viewOf } from './show-rollout.ts';

/**
 * Acts on a locked rollout and returns it. An act whose effect already holds changes nothing. Throws 404
 * `rollout_unknown`, 409 `rollout_state`.
 */
export async function actOn(
  ctx: Context,
  id: string,
  act: RolloutAct,
  run: (tx: Transaction, row: StoredRollout) => Promise<StoredRollout>,
): Promise<RolloutView> {
  return ctx.db.transaction(async (tx) => {
    const row = await lockRollout(tx, id);
    return viewOf(ctx, tx, hasEffect(act, row.state) ? await run(tx, row) : row);
  });
}

/** Records an act on a rollout in the activity log. */
export async function recordAct(
  tx: Transaction,
  ctx: Context,
  { id, name, kind }: Pick<StoredRollout, 'id' | 'name' | 'kind'>,
  action: Extract<ActionCode, `rollout.${string}`>,
  details: Record<string, unknown> = {},
): Promise<void> {
  await recordAudit(tx, ctx, {
    action,
    target: { kind: 'rollout', id },
    details: { name, rolloutKind: kind, ...details },
  });
}
