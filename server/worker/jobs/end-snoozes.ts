import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { endSnoozes } from '#server/domain/attention/index.ts';
import { systemOrigin } from '#server/domain/context.ts';
import type { Job } from '../job.ts';

/** Ends snoozes whose end time has passed or whose problem has changed. */
export const endSnoozesJob: Job = {
  name: 'end-snoozes',
  periodSeconds: 15,
  statementTimeoutSeconds: 15,
  run: (ctx) => endSnoozes({ ...ctx, actor: systemActor, origin: systemOrigin, requestId: randomId() }),
};
