import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { settleDue } from '#server/domain/executions/index.ts';
import type { Job } from '../job.ts';

/** Ends executions that have expired or timed out. */
export const settleExecutionsJob: Job = {
  name: 'settle-executions',
  periodSeconds: 1,
  statementTimeoutSeconds: 15,
  run: (ctx) => settleDue({ ...ctx, actor: systemActor, origin: systemOrigin, requestId: randomId() }),
};
