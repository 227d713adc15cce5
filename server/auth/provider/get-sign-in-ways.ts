import type { PersonContext } from '../person.ts';

/** What the sign-in page offers besides password and passkey. */
export interface SignInWays {
  /** `isAway`: it does not answer now. Null where none is configured. */
  provider: { name: string; isAway: boolean } | null;
}

/** Open to everyone. */
export async function getSignInWays({ signIn }: PersonContext): Promise<SignInWays> {
  const { provider } = signIn;
  return { provider: provider === null ? null : { name: provider.name, isAway: await provider.isAway() } };
}
