import {
  checkExtension,
  getExtension,
  getGoalState,
  listGoalStates,
  removeExtension,
  revertGoalState,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const goalStatesRouter = router({
  get: query(getGoalState),
  list: query(listGoalStates),
  revert: mutation(revertGoalState),
  getExtension: query(getExtension),
  // Protected settings go in, so this is a POST: addresses are logged on the way.
  checkExtension: mutation(checkExtension),
  setExtension: mutation(setExtension),
  removeExtension: mutation(removeExtension),
});
