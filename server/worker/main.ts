import { runProcess } from '#server/process/run.ts';
import { followHealth } from './follow-health.ts';
import { createJobs } from './jobs/index.ts';
import { moveRollouts } from './move-rollouts.ts';
import { runJobs } from './run-jobs.ts';

await runProcess('worker', async (services) => {
  const stopFollowing = followHealth(services);
  const stopRollouts = moveRollouts(services);
  const stopJobs = runJobs(services, createJobs(services));
  return async () => {
    await Promise.all([stopFollowing(), stopRollouts(), stopJobs()]);
  };
});
