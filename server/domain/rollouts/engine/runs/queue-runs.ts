import { type QueuedRun, queueMany, type RunOrder } from '#server/domain/executions/index.ts';
import { approvalsOf } from '../../approvals.ts';
import type { Pass } from '../pass.ts';

/** Queues the rollout's runbook for these VMs. The executions count as approved if a person approved the plan. */
export function queueRuns(
  { tx, ctx, row }: Pass,
  order: RunOrder,
  vmIds: readonly string[],
): Promise<Map<string, QueuedRun>> {
  const approved = approvalsOf(row).at(-1);
  const approval = approved ? { approved: true, at: approved.at, by: approved.by, note: approved.note } : null;
  const { created: author } = row.authors;
  return queueMany(tx, ctx, order, vmIds, { rolloutId: row.id, author, setBy: row.setBy, approval });
}
