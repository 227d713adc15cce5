import { randomInt } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recoveryCodes } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { keyedDigest } from '#server/platform/keys.ts';
import { factorsOf, hasFactors } from './factors-of.ts';
import { refusedFactor } from './webauthn.ts';

const howMany = 10;
/**
 * Omits letters and digits that look alike. Ten characters have 49 bits of entropy, and only ten attempts are allowed
 * per 15 minutes.
 */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

const newCode = (): string => Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('');

const digestOf = ({ keys }: Pick<Services, 'keys'>, userId: string, code: string): Buffer =>
  keyedDigest(keys.recovery, userId, code);

/**
 * Replaces all codes with ten new ones, and returns them in the form `abcde-fghjk`. They cannot be read again later.
 */
export async function makeRecoveryCodes(
  tx: Transaction,
  services: Pick<Services, 'keys'>,
  userId: string,
  now: Date,
): Promise<string[]> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  const codes = Array.from({ length: howMany }, newCode);
  await tx
    .insert(recoveryCodes)
    .values(codes.map((code) => ({ digest: digestOf(services, userId, code), userId, createdAt: now })));
  return codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`);
}

/** Redeems a code. Of concurrent uses, only one succeeds. Throws `factor_refused`. */
export async function takeRecoveryCode(
  tx: Transaction,
  services: Pick<Services, 'keys'>,
  { userId, code, now }: { userId: string; code: string; now: Date },
): Promise<void> {
  const used = await tx
    .update(recoveryCodes)
    .set({ usedAt: now })
    .where(
      and(
        eq(recoveryCodes.digest, digestOf(services, userId, code)),
        eq(recoveryCodes.userId, userId),
        isNull(recoveryCodes.usedAt),
      ),
    )
    .returning({ userId: recoveryCodes.userId });
  if (used.length === 0) throw refusedFactor();
}

/** Deletes the recovery codes of a member who has no other factor, because codes alone protect nothing. */
export async function dropCodesWithoutFactor(tx: Transaction, userId: string): Promise<void> {
  if (hasFactors(await factorsOf(tx, userId))) return;
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
}
