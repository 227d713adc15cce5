import { getRolloutRules, setRolloutRules } from '#server/domain/rollouts/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const rolloutRulesRouter = router({
  get: plainQuery(getRolloutRules),
  set: mutation(setRolloutRules),
});
