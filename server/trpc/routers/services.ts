import {
  addUnits,
  getService,
  listServices,
  removeService,
  resolveModel,
  setService,
} from '#server/domain/services/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const servicesRouter = router({
  addUnits: mutation(addUnits),
  get: query(getService),
  list: query(listServices),
  remove: mutation(removeService),
  resolve: mutation(resolveModel),
  set: mutation(setService),
});
