import { and, eq, lt } from 'drizzle-orm';
import { Secret, TOTP } from 'otpauth';
import type { Transaction } from '#db/client.ts';
import { totpFactors } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { type Keys, seal, unseal } from '#server/platform/keys.ts';
import { refusedFactor } from './webauthn.ts';

const period = 30;

/** Returns a TOTP with the parameters that every app supports: SHA-1, six digits, 30 seconds. */
export function totpOf(secret: string, site: string, label: string): TOTP {
  return new TOTP({ issuer: site, label, algorithm: 'SHA1', digits: 6, period, secret: Secret.fromBase32(secret) });
}

/**
 * Returns the 30-second step of a code: the current, the previous or the next step. Null if the code matches none of
 * these steps.
 */
export function stepOf(secret: string, code: string, now: Date): number | null {
  const timestamp = now.getTime();
  const delta = totpOf(secret, 'Annex', 'Annex').validate({ token: code, timestamp, window: 1 });
  return delta === null ? null : Math.floor(timestamp / 1_000 / period) + delta;
}

const boundTo = (userId: string): string => `totp ${userId}`;

export const sealSecret = ({ keys }: Pick<Services, 'keys'>, userId: string, secret: string): Buffer =>
  seal(keys.totp, Buffer.from(secret), boundTo(userId));

/**
 * Checks an authenticator app's code and consumes its step, so that each code works only once. Throws `factor_refused`.
 */
export async function takeTotpCode(
  tx: Transaction,
  { keys }: Pick<Services, 'keys'>,
  { userId, code, now }: { userId: string; code: string; now: Date },
): Promise<void> {
  const [factor] = await tx.select().from(totpFactors).where(eq(totpFactors.userId, userId));
  if (!factor) throw refusedFactor();
  const step = stepOf(unseal(keys.totp, factor.secret, boundTo(userId)).toString(), code, now);
  if (step === null) throw refusedFactor();
  const used = await tx
    .update(totpFactors)
    .set({ lastStep: step, lastUsedAt: now })
    .where(and(eq(totpFactors.userId, userId), lt(totpFactors.lastStep, step)))
    .returning({ userId: totpFactors.userId });
  if (used.length === 0) throw refusedFactor();
}

/**
 * Decrypts the secrets of all authenticator apps with one set of keys and encrypts them with another. Returns the
 * number of secrets.
 */
export async function resealTotp(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const rows = await tx.select({ userId: totpFactors.userId, secret: totpFactors.secret }).from(totpFactors);
  for (const { userId, secret } of rows) {
    const plain = unseal(from.totp, secret, boundTo(userId));
    await tx
      .update(totpFactors)
      .set({ secret: seal(to.totp, plain, boundTo(userId)) })
      .where(eq(totpFactors.userId, userId));
    plain.fill(0);
  }
  return rows.length;
}
