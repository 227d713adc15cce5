import { isIP } from 'node:net';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { passkeys } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Config } from '#server/platform/env.ts';
import { trustedOrigins } from '../origin.ts';
import type { passkeyAnswer } from './input.ts';

/**
 * Returns the host name that passkeys belong to, and the origins that may use them. If the portal's URL has a loopback
 * name, the host name is always `localhost`.
 */
export function relyingParty(config: Config): { id: string; origins: string[] } {
  const { hostname } = new URL(config.url);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return { id: isHere ? 'localhost' : hostname, origins: [...trustedOrigins(config)] };
}

/**
 * Whether passkeys are possible. The portal's URL must have a host name, because browsers create no passkeys for IP
 * addresses.
 */
export const arePasskeysPossible = (config: Config): boolean =>
  isIP(relyingParty(config).id.replace(/^\[|\]$/g, '')) === 0;

/** Returns the same error for every rejected factor, so that it does not reveal the reason. */
export const refusedFactor = () => new DomainError('unauthenticated', 'factor_refused');

/**
 * Checks that a registered passkey verified its owner and signed this challenge for this portal, and records the use.
 * `userId` is the required owner; if null, any owner is accepted, for signing in without a password. Returns the
 * owner's id. Throws `factor_refused`.
 */
export async function takePasskeySignature(
  tx: Transaction,
  services: Pick<Services, 'config'>,
  input: { answer: z.output<typeof passkeyAnswer>; challenge: string; userId: string | null; now: Date },
): Promise<string> {
  const { answer, challenge, userId, now } = input;
  const [passkey] = await tx.select().from(passkeys).where(eq(passkeys.id, answer.id)).for('update');
  if (!passkey || (userId !== null && passkey.userId !== userId)) throw refusedFactor();
  const { userHandle, ...response } = answer.response;
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== passkey.userId) {
    throw refusedFactor();
  }
  const { id, origins } = relyingParty(services.config);
  const checked = await verifyAuthenticationResponse({
    response: { ...answer, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: id,
    requireUserVerification: true,
    credential: { id: passkey.id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
  }).catch(() => null);
  if (checked?.verified !== true) throw refusedFactor();
  const { newCounter, credentialBackedUp } = checked.authenticationInfo;
  await tx
    .update(passkeys)
    .set({ counter: newCounter, backedUp: credentialBackedUp, lastUsedAt: now })
    .where(eq(passkeys.id, passkey.id));
  return passkey.userId;
}

/**
 * Returns the options for signing with one of this member's passkeys or, if `userId` is null, with any passkey for this
 * portal.
 */
export async function passkeyRequest({ db, config }: Pick<Services, 'db' | 'config'>, userId: string | null) {
  const known = userId === null ? [] : await db.select().from(passkeys).where(eq(passkeys.userId, userId));
  return {
    rpID: relyingParty(config).id,
    userVerification: 'required' as const,
    allowCredentials: known.map(({ id, transports }) => ({ id, transports: transports as AuthenticatorTransport[] })),
  };
}

export type AuthenticatorTransport = 'ble' | 'cable' | 'hybrid' | 'internal' | 'nfc' | 'smart-card' | 'usb';
