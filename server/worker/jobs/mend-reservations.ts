import { mendReservations } from '#server/domain/rollouts/index.ts';
import type { Job } from '../job.ts';

/** Releases VMs that no rollout changes any longer. */
export const mendReservationsJob: Job = {
  name: 'mend-reservations',
  periodSeconds: 10 * 60,
  statementTimeoutSeconds: 15,
  quiet: true,
  run: mendReservations,
};
