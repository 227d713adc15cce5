import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { accounts } from '#db/schema/index.ts';

/** Returns the hash of a member's password; null if the member has none and signs in through the provider. */
export async function passwordHashOf(db: Database | Transaction, userId: string): Promise<string | null> {
  const [account] = await db
    .select({ password: accounts.password })
    .from(accounts)
    .where(and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential')));
  return account?.password ?? null;
}

/** Whether this is still the hash of the member's password. The password cannot change until the transaction ends. */
export async function isPasswordStill(tx: Transaction, userId: string, hash: string): Promise<boolean> {
  const still = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential'), eq(accounts.password, hash)))
    .for('share');
  return still.length > 0;
}
