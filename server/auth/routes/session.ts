import { setCookie } from '../cookies.ts';
import { endSession } from '../session.ts';
import { type AuthCall, answer, done } from './call.ts';

/** Ends the session and deletes its cookie. Responds after the commit. */
export async function signOut(call: AuthCall): Promise<Response> {
  await endSession(call, call.headers);
  return done(setCookie(call.config, 'session_token', '', 0));
}

/**
 * Returns the signed-in member; null if there is none. `role` is null if the member must set up a second factor first.
 */
export async function getSession(call: AuthCall): Promise<Response> {
  const session = await call.session();
  if (session === null) return answer({ user: null });
  const { id, name, role, namespaces } = session.actor;
  return answer({ user: { id, name, role, namespaces, email: session.email } });
}
