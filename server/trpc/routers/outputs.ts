import {
  getOutput,
  listArchives,
  listOutputs,
  readOutput,
  requestArchive,
  searchOutput,
} from '#server/domain/logs/index.ts';
import { mutation, pagedQuery, query, router } from '../trpc.ts';

export const outputsRouter = router({
  archives: query(listArchives),
  get: query(getOutput),
  list: pagedQuery(listOutputs),
  read: query(readOutput),
  requestArchive: mutation(requestArchive),
  search: query(searchOutput),
});
