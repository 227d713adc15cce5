import { users } from '#db/schema/index.ts';
import type { PersonContext } from '../person.ts';

/** What the sign-in page offers besides password and passkey. */
export interface SignInWays {
  /** `isAway`: it does not answer. Null if none is configured. */
  provider: { name: string; isAway: boolean } | null;
  /** False for a portal that is not set up yet: its first member opens the set-up link. */
  hasMembers: boolean;
}

type WaysContext = Pick<PersonContext, 'db'> & { signIn: Pick<PersonContext['signIn'], 'provider'> };

/** Open to everyone. */
export async function getSignInWays({ db, signIn }: WaysContext): Promise<SignInWays> {
  const { provider } = signIn;
  const members = await db.select({ id: users.id }).from(users).limit(1);
  return {
    provider: provider === null ? null : { name: provider.name, isAway: await provider.isAway() },
    hasMembers: members.length > 0,
  };
}
