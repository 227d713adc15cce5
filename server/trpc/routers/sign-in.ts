import { getProvider, getSignInWays } from '#server/auth/provider/index.ts';
import { getSignInRules, setSignInRules } from '#server/auth/rules/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const signInRouter = router({
  provider: plainQuery(getProvider),
  ways: plainQuery(getSignInWays),
  rules: plainQuery(getSignInRules),
  setRules: mutation(setSignInRules),
});
