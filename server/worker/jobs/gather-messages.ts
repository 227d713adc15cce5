import { gatherReportedMessages } from '#server/domain/localization/index.ts';
import type { Job } from '../job.ts';

/** Collects the message ids that handler versions reported. */
export const gatherMessagesJob: Job = {
  name: 'gather-messages',
  periodSeconds: 2,
  statementTimeoutSeconds: 15,
  run: (ctx) => gatherReportedMessages(ctx, ctx.now),
};
