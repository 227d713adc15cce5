import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Session } from './session.ts';
import type { SignIn } from './sign-in.ts';

/** What verbs of the own account get besides: whose session it is, and from where it is used. */
export interface PersonContext extends Context {
  session(): Promise<Session | null>;
  signIn: SignIn;
  headers: Headers;
  address: string;
}

/** A proof of who sits there counts this long for changes of what somebody signs in with. Milliseconds. */
export const confirmedFor = 10 * 60_000;

/** Refuses whoever is not a person with a session. One who must set up a second factor first is let through. */
export async function allowPerson(ctx: PersonContext): Promise<Session> {
  const session = await ctx.session();
  if (session === null) throw new DomainError('unauthenticated', 'unauthenticated');
  return session;
}

/** The same, and refuses with `confirmation_required` where the last proof is older than ten minutes. */
export async function allowConfirmed(ctx: PersonContext): Promise<Session> {
  const session = await allowPerson(ctx);
  if (ctx.now.getTime() - session.confirmedAt.getTime() > confirmedFor) {
    throw new DomainError('forbidden', 'confirmation_required');
  }
  return session;
}
