import { v4 as randomId } from 'uuid';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { runRetries } from '#server/domain/retries/index.ts';
import type { Job } from '../job.ts';

/** Runs the repeated retries that are due. */
export const runRetriesJob: Job = {
  name: 'run-retries',
  periodSeconds: 10,
  statementTimeoutSeconds: 15,
  run: (ctx) => runRetries({ ...ctx, actor: systemActor, origin: systemOrigin, requestId: randomId() }),
};
