import { clearExpiredAccess } from '#server/auth/clear-expired.ts';
import type { Services } from '#server/domain/context.ts';
import { clearExpiredTokens } from '#server/domain/enrollment/index.ts';

/** Removes expired sessions, invitations and tokens. Returns the number of rows. */
export async function clearExpired(services: Services, now: Date): Promise<number> {
  return (await clearExpiredAccess(services, now)) + (await clearExpiredTokens(services, now));
}
