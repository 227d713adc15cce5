import type { Transaction } from '#db/client.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { credentialsChannel, deletePresence, removeAgent } from '#server/domain/enrollment/index.ts';
import { dropChannel, endExecutions } from '#server/domain/executions/index.ts';
import { retireGoalStates } from '#server/domain/goal-states/index.ts';
import { dropHealth } from '#server/domain/health/index.ts';
import { dropHold } from '#server/domain/holds/index.ts';
import { dropReportedState } from '#server/domain/reported-state/index.ts';
import { dropRetries } from '#server/domain/retries/index.ts';
import { dropStockAgent } from '#server/domain/stock-agents/index.ts';
import { markDeleted } from '#server/domain/vms/index.ts';
import { tell } from '#server/platform/wakes/index.ts';

/** Deletes a VM in the caller's transaction. Each module deletes its own rows. */
export async function deleteVm(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  // The presence is locked first, as in a batch of reports, so that a deletion and a batch cannot deadlock.
  await deletePresence(tx, vmId);
  await retireGoalStates(tx, vmId);
  await dropReportedState(tx, vmId);
  await dropStockAgent(tx, vmId);
  await dropHold(tx, vmId);
  await dropRetries(tx, vmId);
  await endExecutions(tx, ctx, vmId);
  await dropChannel(tx, vmId);
  await removeAgent(tx, vmId);
  const name = await markDeleted(tx, vmId, ctx.now);
  await recordAudit(tx, ctx, {
    action: 'vm.delete',
    target: { kind: 'vm', id: vmId },
    vmId,
    details: { name },
  });
  await recordChange(tx, 'vm', vmId);
  // Once the change is recorded, no evaluation of this VM starts, so nothing restores its health.
  await dropHealth(tx, vmId, ctx.now);
  await tell(tx, credentialsChannel, [vmId]);
}
