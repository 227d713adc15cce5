import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { mendUnits } from '#server/domain/services/index.ts';
import { mendTopology } from '#server/domain/topology/index.ts';
import type { Job } from '../job.ts';

/**
 * Deletes what interrupted requests left of machines and their units, and continues the deletion of machines and models.
 */
export const mendTopologyJob: Job = {
  name: 'mend-topology',
  periodSeconds: 5,
  statementTimeoutSeconds: 15,
  quiet: true,
  run: async (given) => {
    const ctx = { ...given, actor: systemActor, origin: systemOrigin, requestId: randomId() };
    const removed = await mendUnits(ctx);
    return removed + (await mendTopology(ctx));
  },
};
