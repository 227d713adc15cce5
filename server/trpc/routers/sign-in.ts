import { getProvider, getSignInWays } from '#server/auth/provider/index.ts';
import { getSignInRules, setSignInRules } from '#server/auth/rules/index.ts';
import { type CallContext, mutation, plainQuery, router } from '../trpc.ts';

/** What failed when people and scripts said who they are; for admins. */
const attempts = async ({ signIn }: CallContext) => signIn.attempts.counts();

export const signInRouter = router({
  attempts: plainQuery(attempts),
  provider: plainQuery(getProvider),
  ways: plainQuery(getSignInWays),
  rules: plainQuery(getSignInRules),
  setRules: mutation(setSignInRules),
});
