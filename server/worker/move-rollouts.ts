import type { OpenServices } from '#server/process/services.ts';
import { type FollowOptions, followRollouts } from './follow-rollouts.ts';
import { planRollouts } from './plan-rollouts.ts';

/**
 * Plans, checks and moves rollouts, and starts automatic ones. While no rollout is open, all of this causes one
 * statement a minute. Returns a function that stops it.
 */
export function moveRollouts(services: OpenServices, options: FollowOptions = {}): () => Promise<void> {
  const planning = planRollouts(services);
  const stopFollowing = followRollouts(services, { ...options, wakePlanner: planning.wake });
  return async () => {
    await Promise.all([planning.stop(), stopFollowing()]);
  };
}
