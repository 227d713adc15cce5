import type { Transaction } from '#db/client.ts';
import { authChallenges, recoveryCodes, sessions } from '#db/schema/index.ts';

/** Deletes recovery codes, challenges and sessions, because they cannot be used with a new secret key. */
export async function dropKeyedDigests(tx: Transaction): Promise<void> {
  await tx.delete(recoveryCodes);
  await tx.delete(authChallenges);
  await tx.delete(sessions);
}
