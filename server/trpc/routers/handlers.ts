import { getHandler, listHandlers } from '#server/domain/packages/index.ts';
import { query, router } from '../trpc.ts';

export const handlersRouter = router({
  list: query(listHandlers),
  get: query(getHandler),
});
