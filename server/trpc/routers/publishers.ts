import { createPublisher, listPublishers } from '#server/domain/publishers/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const publishersRouter = router({
  list: query(listPublishers),
  create: mutation(createPublisher),
});
