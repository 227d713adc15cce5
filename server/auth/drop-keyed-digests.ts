import type { Transaction } from '#db/client.ts';
import { authChallenges, recoveryCodes, sessions } from '#db/schema/index.ts';

/**
 * Removes recovery codes, challenges and sessions, for a portal whose secret key changes: only their keyed digests are
 * stored, and those cannot be computed again.
 */
export async function dropKeyedDigests(tx: Transaction): Promise<void> {
  await tx.delete(recoveryCodes);
  await tx.delete(authChallenges);
  await tx.delete(sessions);
}
