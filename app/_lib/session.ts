import { postJson } from './post-json.ts';

let isLeaving = false;

/** Whether the reader is signing out, so a redirect is expected. */
export const isSigningOut = (): boolean => isLeaving;

/** Ends the session. */
export async function signOut(): Promise<void> {
  isLeaving = true;
  try {
    await postJson('/api/auth/sign-out', {});
  } catch (error) {
    isLeaving = false;
    throw error;
  }
}

/** Whether the portal says that there is no session, or that a second factor must be set up first. */
export async function isSignedOut(): Promise<boolean> {
  try {
    const response = await fetch('/api/auth/get-session', { cache: 'no-store' });
    if (!response.ok) return false;
    const body: unknown = await response.json();
    if (typeof body !== 'object' || body === null || !('user' in body)) return false;
    return body.user === null || (body.user as { role?: unknown }).role === null;
  } catch {
    return false;
  }
}
