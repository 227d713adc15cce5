import { markForgotten } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Schedules a health evaluation for VMs that an earlier release created without scheduling one. */
export const markForgottenJob: Job = {
  name: 'mark-forgotten',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => markForgotten(ctx),
};
