import { createPublisher, listPublishers } from '#server/domain/publishers/index.ts';
import { mutation, pagedQuery, router } from '../trpc.ts';

export const publishersRouter = router({
  list: pagedQuery(listPublishers),
  create: mutation(createPublisher),
});
