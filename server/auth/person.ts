import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Session } from './session.ts';
import type { SignIn } from './sign-in.ts';

/** Context of verbs that need the caller's session. `address` is the browser's IP address. */
export interface PersonContext extends Context {
  session(): Promise<Session | null>;
  signIn: SignIn;
  headers: Headers;
  address: string;
}

/** Context of verbs that both members and API tokens may call. Calls from the pages have a session. */
export interface CallerContext extends Context {
  session?(): Promise<Session | null>;
}

/** How long a confirmation is valid, in milliseconds. */
export const confirmedFor = 10 * 60_000;

/** Rejects callers without a session. Accepts members who must still set up a second factor. */
export async function allowPerson(ctx: PersonContext): Promise<Session> {
  const session = await ctx.session();
  if (session === null) throw new DomainError('unauthenticated', 'unauthenticated');
  return session;
}

/** Like `allowPerson`, but throws `confirmation_required` if the last confirmation is older than ten minutes. */
export async function allowConfirmed(ctx: PersonContext): Promise<Session> {
  const session = await allowPerson(ctx);
  requireFresh(session, ctx.now);
  return session;
}

/**
 * Requires a recent confirmation from members, but not from API tokens and the bootstrap token, which have nothing to
 * confirm with.
 */
export async function allowConfirmedCaller(ctx: CallerContext): Promise<void> {
  if (ctx.actor.kind !== 'user') return;
  const session = (await ctx.session?.()) ?? null;
  if (session === null) throw new DomainError('unauthenticated', 'unauthenticated');
  requireFresh(session, ctx.now);
}

function requireFresh({ confirmedAt }: Session, now: Date): void {
  if (now.getTime() - confirmedAt.getTime() > confirmedFor) throw new DomainError('forbidden', 'confirmation_required');
}
