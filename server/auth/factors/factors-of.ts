import { and, count, eq, isNull } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { passkeys, recoveryCodes, totpFactors } from '#db/schema/index.ts';

/** The factors that a member has besides the password. */
export interface Factors {
  passkeys: number;
  totp: boolean;
  recoveryCodesLeft: number;
}

/** Returns a member's factors. */
export async function factorsOf(db: Database | Transaction, userId: string): Promise<Factors> {
  const [[keys], totp, [codes]] = [
    await db.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, userId)),
    await db.select({ userId: totpFactors.userId }).from(totpFactors).where(eq(totpFactors.userId, userId)),
    await db
      .select({ n: count() })
      .from(recoveryCodes)
      .where(and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt))),
  ];
  return { passkeys: keys?.n ?? 0, totp: totp.length > 0, recoveryCodesLeft: codes?.n ?? 0 };
}

export const hasFactors = ({ passkeys: keys, totp }: Factors): boolean => keys > 0 || totp;
