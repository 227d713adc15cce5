import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type CancelRetriesInput, cancelRetriesInput } from './input.ts';
import { dropSeries } from './series.ts';

/**
 * Cancels the repeated retries of an extension; a running command is completed. If there are no repeated retries,
 * nothing changes. Throws 404 `vm_unknown`.
 */
export async function cancelRetries(ctx: Context, input: CancelRetriesInput): Promise<void> {
  allow(ctx.actor, 'operator');
  const { vmId, name } = parse(cancelRetriesInput, input);
  await ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    if (!(await dropSeries(tx, vmId, name))) return;
    await recordAudit(tx, ctx, {
      action: 'extension.retry-cancel',
      target: { kind: 'extension', id: name },
      vmId,
    });
    await recordChange(tx, 'vm', vmId);
  });
}
