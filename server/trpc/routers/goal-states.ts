import {
  compareGoalStates,
  findRevertTarget,
  getDeliveredGoalState,
  getExtension,
  getGoalState,
  listGoalStateChanges,
  listGoalStates,
  type Plan,
  planExtension,
  planRemoval,
  planRevert,
  previewRevert,
  releaseSecrets,
  removeExtension,
  revertGoalState,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { cancelRetries, retryExtension } from '#server/domain/retries/index.ts';
import { translateFaults } from '#server/i18n/index.ts';
import { type CallContext, mutation, pagedQuery, query, router } from '../trpc.ts';

/** Wraps a verb so that the warnings and faults of its plan have messages in the user's language. */
const inWords =
  <Input>(verb: (ctx: CallContext, input: Input) => Promise<Plan>) =>
  async (ctx: CallContext, input: Input) => {
    const plan = await verb(ctx, input);
    return {
      ...plan,
      warnings: translateFaults(plan.warnings, ctx.language),
      faults: translateFaults(plan.faults, ctx.language),
    };
  };

export const goalStatesRouter = router({
  get: query(getGoalState),
  delivered: query(getDeliveredGoalState),
  list: pagedQuery(listGoalStates),
  changes: pagedQuery(listGoalStateChanges),
  compare: query(compareGoalStates),
  revertTarget: query(findRevertTarget),
  previewRevert: query(previewRevert),
  revert: mutation(revertGoalState),
  getExtension: query(getExtension),
  // A mutation and thus a POST: the input contains protected settings, and proxies log the URLs of GETs.
  planExtension: mutation(inWords(planExtension)),
  planRemoval: query(inWords(planRemoval)),
  planRevert: query(inWords(planRevert)),
  setExtension: mutation(setExtension),
  removeExtension: mutation(removeExtension),
  retryExtension: mutation(retryExtension),
  cancelRetries: mutation(cancelRetries),
  releaseSecrets: mutation(releaseSecrets),
});
