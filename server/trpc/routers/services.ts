import {
  addUnits,
  getService,
  listServices,
  releaseServiceSecrets,
  removeService,
  resolveModel,
  setService,
} from '#server/domain/services/index.ts';
import {
  listRecentRuns,
  listServiceStates,
  type RecentRunsInput,
  type ServiceStatesInput,
} from '#server/domain/views/index.ts';
import { type CallContext, mutation, query, router } from '../trpc.ts';

const statesForReader = (ctx: CallContext, input: ServiceStatesInput) =>
  listServiceStates(ctx, { ...input, ...ctx.reader });

const runsForReader = (ctx: CallContext, input: RecentRunsInput) => listRecentRuns(ctx, { ...input, ...ctx.reader });

export const servicesRouter = router({
  addUnits: mutation(addUnits),
  get: query(getService),
  list: query(listServices),
  release: mutation(releaseServiceSecrets),
  remove: mutation(removeService),
  resolve: mutation(resolveModel),
  runs: query(runsForReader),
  set: mutation(setService),
  states: query(statesForReader),
});
