import { runProcess } from '#server/process/run.ts';
import { followHealth } from './follow-health.ts';
import { followRollouts } from './follow-rollouts.ts';
import { createJobs } from './jobs/index.ts';
import { planRollouts } from './plan-rollouts.ts';
import { runJobs } from './run-jobs.ts';

await runProcess('worker', async (services) => {
  const stopFollowing = followHealth(services);
  const stopPlanning = planRollouts(services);
  const stopRollouts = followRollouts(services);
  const stopJobs = runJobs(services, createJobs(services));
  return async () => {
    await Promise.all([stopFollowing(), stopPlanning(), stopRollouts(), stopJobs()]);
  };
});
