import { createVersionCount } from '#server/domain/health/index.ts';
import type { Job } from '../job.ts';

/** Counts the VMs of each handler version, a small step per run, so that reports do not wait for a large fleet. */
export function countVersionsJob(): Job {
  const countStep = createVersionCount();
  return {
    name: 'count-versions',
    periodSeconds: 1,
    statementTimeoutSeconds: 15,
    quiet: true,
    run: (ctx) => countStep(ctx, ctx.now),
  };
}
