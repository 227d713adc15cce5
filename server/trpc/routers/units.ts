import {
  connectUnit,
  filterRunLog,
  getDue,
  getRun,
  getUnit,
  listRuns,
  listUnitRelations,
  readRunLog,
  readRunOutput,
  releaseUnitSecrets,
  removeUnit,
  resolveUnit,
  searchRunLog,
} from '#server/domain/services/index.ts';
import { listVmUnits, type VmUnitsInput } from '#server/domain/views/index.ts';
import { type CallContext, mutation, pagedQuery, query, router } from '../trpc.ts';

/** Pages name the VM of a unit, because changes of the VM reload the queries about the VM. */
const ofVm =
  <Input extends object, Output>(verb: (ctx: CallContext, input: Input) => Promise<Output>) =>
  (ctx: CallContext, { vmId: _, ...input }: Input & { vmId?: string }) =>
    verb(ctx, input as unknown as Input);

const unitsForReader = (ctx: CallContext, input: VmUnitsInput) => listVmUnits(ctx, { ...input, ...ctx.reader });
const runForReader = (ctx: CallContext, input: Parameters<typeof getRun>[1]) => getRun(ctx, input, ctx.reader);
const logForReader = (ctx: CallContext, input: Parameters<typeof readRunLog>[1]) => readRunLog(ctx, input, ctx.reader);

/** The pages’ client sends the row to continue from as `cursor`. */
const fromCursor = <Input extends object>({ cursor, ...asked }: Input & { cursor?: number }) => ({
  ...asked,
  ...(cursor !== undefined && { row: cursor }),
});

const filterForReader = (ctx: CallContext, input: Parameters<typeof filterRunLog>[1] & { cursor?: number }) =>
  filterRunLog(ctx, fromCursor(input), ctx.reader);

const searchInPages = (ctx: CallContext, input: Parameters<typeof searchRunLog>[1] & { cursor?: number }) =>
  searchRunLog(ctx, fromCursor(input));

export const unitsRouter = router({
  connect: query(connectUnit),
  due: query(ofVm(getDue)),
  filter: pagedQuery(filterForReader),
  get: query(ofVm(getUnit)),
  log: query(ofVm(logForReader)),
  ofVm: query(unitsForReader),
  relations: query(ofVm(listUnitRelations)),
  release: mutation(releaseUnitSecrets),
  remove: mutation(removeUnit),
  resolve: mutation(resolveUnit),
  run: query(ofVm(runForReader)),
  runOutput: query(readRunOutput),
  runs: pagedQuery(ofVm(listRuns)),
  search: pagedQuery(searchInPages),
});
