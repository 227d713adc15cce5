import type { Transaction } from '#db/client.ts';
import { authChallenges, recoveryCodes, sessions } from '#db/schema/index.ts';

/**
 * Deletes recovery codes, challenges and sessions when the portal's secret key changes: only keyed digests of them are
 * stored, and these cannot be computed again.
 */
export async function dropKeyedDigests(tx: Transaction): Promise<void> {
  await tx.delete(recoveryCodes);
  await tx.delete(authChallenges);
  await tx.delete(sessions);
}
