import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { mendTopology } from '#server/domain/topology/index.ts';
import type { Job } from '../job.ts';

/** Deletes what interrupted requests left of machines, and continues the deletion of machines and models. */
export const mendTopologyJob: Job = {
  name: 'mend-topology',
  periodSeconds: 5,
  statementTimeoutSeconds: 15,
  quiet: true,
  run: (ctx) => mendTopology({ ...ctx, actor: systemActor, origin: systemOrigin, requestId: randomId() }),
};
