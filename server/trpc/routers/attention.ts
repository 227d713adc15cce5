import {
  assignProblem,
  listAssignees,
  snoozeProblem,
  unassignProblem,
  unsnoozeProblem,
} from '#server/domain/attention/index.ts';
import { countAttention, listAttention, listAttentionVms } from '#server/domain/views/index.ts';
import { type CallContext, mutation, pagedQuery, plainQuery, router } from '../trpc.ts';

const list = (ctx: CallContext) => listAttention(ctx, ctx.reader);

export const attentionRouter = router({
  list: plainQuery(list),
  count: plainQuery(countAttention),
  vms: pagedQuery(listAttentionVms),
  assignees: plainQuery(listAssignees),
  assign: mutation(assignProblem),
  unassign: mutation(unassignProblem),
  snooze: mutation(snoozeProblem),
  unsnooze: mutation(unsnoozeProblem),
});
