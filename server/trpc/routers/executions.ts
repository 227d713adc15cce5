import {
  cancelExecution,
  cancelWaiting,
  followExecution,
  getExecution,
  getPlan,
  getResult,
  listExecutions,
  queueExecution,
  readLog,
  searchLog,
  validatePlan,
} from '#server/domain/executions/index.ts';
import { mutation, pagedQuery, query, router } from '../trpc.ts';

export const executionsRouter = router({
  cancel: mutation(cancelExecution),
  cancelWaiting: mutation(cancelWaiting),
  follow: mutation(followExecution),
  get: query(getExecution),
  list: pagedQuery(listExecutions),
  log: query(readLog),
  plan: query(getPlan),
  queue: mutation(queueExecution),
  result: query(getResult),
  search: query(searchLog),
  validate: query(validatePlan),
});
