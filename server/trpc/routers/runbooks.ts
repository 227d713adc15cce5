import {
  getRunbook,
  getRunbookVersion,
  listRunbooks,
  publishRunbookVersion,
  removeRunbookDraft,
  saveRunbookVersion,
  withdrawRunbookVersion,
} from '#server/domain/runbooks/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const runbooksRouter = router({
  get: query(getRunbook),
  list: query(listRunbooks),
  publish: mutation(publishRunbookVersion),
  removeDraft: mutation(removeRunbookDraft),
  save: mutation(saveRunbookVersion),
  version: query(getRunbookVersion),
  withdraw: mutation(withdrawRunbookVersion),
});
