import type { Transaction } from '#db/client.ts';
import { authChallenges, recoveryCodes, sessions } from '#db/schema/index.ts';

/**
 * Deletes recovery codes, challenges and sessions after the portal's secret key changed. Only their keyed digests are
 * stored, which cannot be computed again.
 */
export async function dropKeyedDigests(tx: Transaction): Promise<void> {
  await tx.delete(recoveryCodes);
  await tx.delete(authChallenges);
  await tx.delete(sessions);
}
