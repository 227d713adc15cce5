import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { abortIn } from '../abort-rollout.ts';
import { recordAct } from '../act-on.ts';
import { changeRollout, type StoredRollout } from '../rows.ts';

/**
 * Ends a locked automatic rollout in favor of another one: members whose turn has not come are left to that one, and
 * open steps are decided.
 */
export async function supersede(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  by: Pick<StoredRollout, 'id' | 'name'>,
): Promise<void> {
  await abortIn(tx, ctx, row);
  await changeRollout(tx, row, { supersededBy: by.id });
  await recordAct(tx, ctx, row, 'rollout.supersede', { by: by.id, byName: by.name, from: row.state });
}
