import { listRunbookFiles, removeRunbookFile } from '#server/domain/runbook-files/index.ts';
import { mutation, pagedQuery, router } from '../trpc.ts';

export const runbookFilesRouter = router({
  list: pagedQuery(listRunbookFiles),
  remove: mutation(removeRunbookFile),
});
