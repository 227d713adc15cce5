import { getProvider, getSignInWays } from '#server/auth/provider/index.ts';
import { getSignInRules, setSignInRules } from '#server/auth/rules/index.ts';
import { allow } from '#server/domain/actor.ts';
import { type CallContext, mutation, plainQuery, router } from '../trpc.ts';

/** Returns counts since the portal started: failed sign-ins and confirmations, lockouts, and rejected API tokens. */
const attempts = async ({ actor, signIn }: CallContext) => {
  allow(actor, 'admin');
  return signIn.attempts.counts();
};

export const signInRouter = router({
  attempts: plainQuery(attempts),
  provider: plainQuery(getProvider),
  ways: plainQuery(getSignInWays),
  rules: plainQuery(getSignInRules),
  setRules: mutation(setSignInRules),
});
