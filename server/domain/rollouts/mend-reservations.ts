import type { Services } from '#server/domain/context.ts';
import { releaseUnless } from '#server/domain/reservations/index.ts';
import { isOutSql } from './engine/holder.ts';

/**
 * Releases VMs that rollouts have reserved without an open step, for example because a rollout was deleted by hand.
 * Returns the number of released VMs.
 */
export const mendReservations = ({ db }: Pick<Services, 'db'>): Promise<number> =>
  releaseUnless(db, { kind: 'rollout' }, isOutSql);
