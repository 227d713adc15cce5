import {
  addUnits,
  getService,
  listServices,
  releaseServiceSecrets,
  removeService,
  resolveModel,
  setService,
} from '#server/domain/services/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const servicesRouter = router({
  addUnits: mutation(addUnits),
  get: query(getService),
  list: query(listServices),
  release: mutation(releaseServiceSecrets),
  remove: mutation(removeService),
  resolve: mutation(resolveModel),
  set: mutation(setService),
});
