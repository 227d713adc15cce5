import { clearExpiredAccess } from '#server/auth/clear-expired.ts';
import { clearExpiredTokens } from '#server/domain/enrollment/index.ts';
import type { Job } from '../job.ts';

/** Deletes expired sessions and verifications, and invitations and tokens that ended long ago. */
export const clearExpiredJob: Job = {
  name: 'clear-expired',
  periodSeconds: 10 * 60,
  statementTimeoutSeconds: 30,
  run: async (ctx) => (await clearExpiredAccess(ctx, ctx.now)) + (await clearExpiredTokens(ctx, ctx.now)),
};
