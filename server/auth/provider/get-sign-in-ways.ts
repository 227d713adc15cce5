import { users } from '#db/schema/index.ts';
import type { PersonContext } from '../person.ts';

/** What the sign-in page needs to know: the OpenID provider, and whether the portal has members. */
export interface SignInWays {
  /** The OpenID provider; null if none is configured. `isAway` means that it does not respond. */
  provider: { name: string; isAway: boolean } | null;
  /** Whether the portal has members. The first member joins through the setup link. */
  hasMembers: boolean;
}

type WaysContext = Pick<PersonContext, 'db'> & { signIn: Pick<PersonContext['signIn'], 'provider'> };

/** Returns the OpenID provider, and whether the portal has members. Anyone may call this. */
export async function getSignInWays({ db, signIn }: WaysContext): Promise<SignInWays> {
  const { provider } = signIn;
  const members = await db.select({ id: users.id }).from(users).limit(1);
  return {
    provider: provider === null ? null : { name: provider.name, isAway: await provider.isAway() },
    hasMembers: members.length > 0,
  };
}
