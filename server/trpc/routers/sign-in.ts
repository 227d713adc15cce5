import { getSignInRules, setSignInRules } from '#server/auth/rules/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const signInRouter = router({
  rules: plainQuery(getSignInRules),
  setRules: mutation(setSignInRules),
});
