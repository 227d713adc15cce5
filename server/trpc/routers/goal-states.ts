import {
  checkExtension,
  getExtension,
  getGoalState,
  listGoalStates,
  removeExtension,
  revertGoalState,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import type { CheckExtensionInput } from '#server/domain/goal-states/input.ts';
import { translateFaults } from '#server/i18n/index.ts';
import { type CallContext, mutation, pagedQuery, query, router } from '../trpc.ts';

/** What would be refused, each with its sentence. */
async function checkInWords(ctx: CallContext, input: CheckExtensionInput) {
  const { faults } = await checkExtension(ctx, input);
  return { faults: translateFaults(faults, ctx.headers.get('accept-language')) };
}

export const goalStatesRouter = router({
  get: query(getGoalState),
  list: pagedQuery(listGoalStates),
  revert: mutation(revertGoalState),
  getExtension: query(getExtension),
  // Protected settings go in, so this is a POST: addresses are logged on the way.
  checkExtension: mutation(checkInWords),
  setExtension: mutation(setExtension),
  removeExtension: mutation(removeExtension),
});
