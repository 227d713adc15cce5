import {
  addMachine,
  bootstrapModel,
  changeModel,
  createModel,
  destroyModel,
  getModel,
  getTopology,
  listInstances,
  listModels,
  listStorageAccounts,
  removeMachine,
  setStorageAccount,
} from '#server/domain/topology/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const modelsRouter = router({
  addMachine: mutation(addMachine),
  bootstrap: mutation(bootstrapModel),
  change: mutation(changeModel),
  create: mutation(createModel),
  destroy: mutation(destroyModel),
  get: query(getModel),
  instances: query(listInstances),
  list: query(listModels),
  removeMachine: mutation(removeMachine),
  setStorageAccount: mutation(setStorageAccount),
  storageAccounts: query(listStorageAccounts),
  topology: query(getTopology),
});
