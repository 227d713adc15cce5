import {
  bindChannel,
  cancelExecution,
  cancelWaiting,
  compareCall,
  compareExecutions,
  decideApproval,
  filterLog,
  followExecution,
  getConductor,
  getExecution,
  getExecutionRules,
  getPlan,
  getResult,
  groupExecutions,
  listExecutions,
  queueExecution,
  readChannel,
  readLog,
  searchLog,
  setExecutionRules,
  unbindChannel,
  validatePlan,
} from '#server/domain/executions/index.ts';
import { translateExecution, translateFaults } from '#server/i18n/index.ts';
import { type CallContext, mutation, pagedQuery, plainQuery, query, router } from '../trpc.ts';

const getInWords = async (ctx: CallContext, input: Parameters<typeof getExecution>[1]) =>
  translateExecution(await getExecution(ctx, input), ctx.language);

const compareInWords = async (ctx: CallContext, input: Parameters<typeof compareExecutions>[1]) => {
  const { before, after, ...compared } = await compareExecutions(ctx, input);
  const inWords = (execution: typeof before) => translateExecution(execution, ctx.language);
  return { ...compared, before: inWords(before), after: inWords(after) };
};

const listInWords = async (ctx: CallContext, input: Parameters<typeof listExecutions>[1]) => {
  const { items, nextCursor } = await listExecutions(ctx, input);
  return { items: items.map((item) => translateExecution(item, ctx.language)), nextCursor };
};

const queue = async (ctx: CallContext, input: Parameters<typeof queueExecution>[1]) => {
  const { execution, isNew } = await queueExecution(ctx, input);
  return { id: execution.id, isNew };
};

const validateInWords = async (ctx: CallContext, input: Parameters<typeof validatePlan>[1]) => {
  const judged = await validatePlan(ctx, input);
  const { faults, warnings, schemaFaults } = judged;
  return {
    ...judged,
    faults: translateFaults(faults, ctx.language),
    warnings: translateFaults(warnings, ctx.language),
    schemaFaults: translateFaults(schemaFaults, ctx.language),
  };
};

/** Renames `cursor` to `row`. The pages' client sends the row to continue from as `cursor`. */
const fromCursor = <Input extends object>({ cursor, ...asked }: Input & { cursor?: number }) => ({
  ...asked,
  ...(cursor !== undefined && { row: cursor }),
});

const searchInPages = (ctx: CallContext, input: Parameters<typeof searchLog>[1] & { cursor?: number }) =>
  searchLog(ctx, fromCursor(input));

const filterInPages = (ctx: CallContext, input: Parameters<typeof filterLog>[1] & { cursor?: number }) =>
  filterLog(ctx, fromCursor(input));

export const executionsRouter = router({
  bind: mutation(bindChannel),
  cancel: mutation(cancelExecution),
  cancelWaiting: mutation(cancelWaiting),
  channel: query(readChannel),
  compare: query(compareInWords),
  compareCall: query(compareCall),
  conductor: plainQuery(getConductor),
  decide: mutation(decideApproval),
  filter: pagedQuery(filterInPages),
  follow: mutation(followExecution),
  get: query(getInWords),
  groups: query(groupExecutions),
  list: pagedQuery(listInWords),
  log: query(readLog),
  plan: query(getPlan),
  queue: mutation(queue),
  result: query(getResult),
  rules: plainQuery(getExecutionRules),
  search: pagedQuery(searchInPages),
  setRules: mutation(setExecutionRules),
  unbind: mutation(unbindChannel),
  // A mutation and thus a POST: a plan does not fit into a URL, and proxies log the URLs of GETs.
  validate: mutation(validateInWords),
});
