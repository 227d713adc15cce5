import { getUnit, removeUnit, resolveUnit } from '#server/domain/services/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const unitsRouter = router({
  get: query(getUnit),
  remove: mutation(removeUnit),
  resolve: mutation(resolveUnit),
});
