import {
  getDue,
  getRun,
  getUnit,
  listRuns,
  readRunOutput,
  releaseUnitSecrets,
  removeUnit,
  resolveUnit,
} from '#server/domain/services/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const unitsRouter = router({
  due: query(getDue),
  get: query(getUnit),
  release: mutation(releaseUnitSecrets),
  remove: mutation(removeUnit),
  resolve: mutation(resolveUnit),
  run: query(getRun),
  runOutput: query(readRunOutput),
  runs: query(listRuns),
});
