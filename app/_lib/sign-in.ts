import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { postJson } from './post-json.ts';

/** The kinds of second factor that an account has. */
export interface FactorKinds {
  passkey: boolean;
  totp: boolean;
  recoveryCode: boolean;
}

/** A second factor in the form that is sent: a code from the app, a recovery code, or the signature of a passkey. */
export type SignInFactor = { code: string } | { recoveryCode: string } | { passkey: AuthenticationResponseJSON };

/**
 * Starts a session and returns null or, if a second factor is required, returns the kinds of factor that the account
 * has. Throws `DoorError` if the credentials are wrong or there were too many attempts.
 */
export async function signIn(email: string, password: string): Promise<FactorKinds | null> {
  const response = await postJson('/api/auth/sign-in/email', { email, password });
  return response.status === 204 ? null : ((await response.json()) as { factors: FactorKinds }).factors;
}

/** Returns the options for a passkey of the account whose password was given. */
export async function requestFactorOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return (await postJson('/api/auth/sign-in/factor/passkey', {})).json();
}

/**
 * Sends the second factor and starts the session. Throws `DoorError`: `sign_in_stale` if the password must be entered
 * again, otherwise `factor_refused` or `too_many_attempts`.
 */
export async function signInWithFactor(answer: SignInFactor): Promise<void> {
  await postJson('/api/auth/sign-in/factor', answer);
}

/** Returns the options for any passkey of this browser. */
export async function requestPasskeyOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return (await postJson('/api/auth/sign-in/passkey/options', {})).json();
}

/** Starts a session with a passkey alone. Throws `DoorError` if the portal rejects it. */
export async function signInWithPasskey(passkey: AuthenticationResponseJSON): Promise<void> {
  await postJson('/api/auth/sign-in/passkey', { passkey });
}

/** Redirects to the OpenID provider, which returns to `next`. Throws `DoorError` if the provider does not respond. */
export async function goToProvider(next: string, invitation?: string): Promise<void> {
  const response = await postJson('/api/auth/oidc/start', {
    next,
    ...(invitation === undefined ? {} : { invitation }),
  });
  location.assign(((await response.json()) as { address: string }).address);
}

/**
 * Redirects to the OpenID provider to connect an account. Throws `DoorError` if the reader has not recently
 * confirmed their identity, or if the provider does not respond.
 */
export async function connectProvider(): Promise<void> {
  const response = await postJson('/api/auth/oidc/start', { connect: true });
  location.assign(((await response.json()) as { address: string }).address);
}

/**
 * Changes the password, which ends all other sessions. Throws `DoorError` if the current password is wrong or the new
 * password is invalid.
 */
export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  await postJson('/api/auth/change-password', { currentPassword, newPassword });
}

/** Returns the path to open after signing in; by default the overview. Checks `next`, because it comes from the URL. */
export function safeNext(next: string | undefined): string {
  // Parses the path as a browser does: drops tabs and line breaks, and treats a backslash as a slash.
  const here = 'http://annex.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, here)) return '/';
  const { origin, pathname, search, hash } = new URL(next, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
