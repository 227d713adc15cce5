import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { endHolds } from '#server/domain/holds/index.ts';
import type { Job } from '../job.ts';

/** Releases holds whose end time has passed. */
export const endHoldsJob: Job = {
  name: 'end-holds',
  periodSeconds: 15,
  statementTimeoutSeconds: 15,
  run: (ctx) => endHolds({ ...ctx, actor: systemActor, origin: systemOrigin, requestId: randomId() }),
};
