import { listStrategies, removeStrategy, setStrategy } from '#server/domain/rollouts/index.ts';
import { mutation, plainQuery, router } from '../trpc.ts';

export const strategiesRouter = router({
  list: plainQuery(listStrategies),
  remove: mutation(removeStrategy),
  set: mutation(setStrategy),
});
