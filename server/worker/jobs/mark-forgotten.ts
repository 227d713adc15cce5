import { markForgotten } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Marks VMs whose health was never evaluated. */
export const markForgottenJob: Job = {
  name: 'mark-forgotten',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => markForgotten(ctx),
};
