import { type Problem, problemOfResponse } from './problem.ts';

/** A refusal by a door that is not tRPC; `problemOf` reads its `data`. */
export class DoorError extends Error {
  override readonly name = 'DoorError';
  readonly data: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.data = problem;
  }
}

/** Starts a session. Throws `DoorError` with `credentials_refused` or `rate_limited`, or what `fetch` throws. */
export async function signIn(email: string, password: string): Promise<void> {
  await post('/api/auth/sign-in/email', { email, password });
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  await post('/api/auth/sign-out', {});
}

/** Whether the portal answers, and says that nobody is signed in here. */
export async function isSignedOut(): Promise<boolean> {
  try {
    const response = await fetch('/api/auth/get-session', { cache: 'no-store' });
    if (!response.ok) return false;
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null && 'user' in body && body.user === null;
  } catch {
    return false;
  }
}

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': document.documentElement.lang },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
}

/** Where to go after signing in: a path of this portal, or the VMs. `next` comes from the address, so it is checked. */
export function safeNext(next: string | undefined): string {
  // As a browser reads it: it drops tabs and line ends, and takes a backslash for a slash.
  const here = 'http://annex.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, here)) return '/vms';
  const { origin, pathname, search, hash } = new URL(next, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search + hash : '/vms';
}
