import {
  applyDocument,
  destroyModel,
  getDocument,
  planDocument,
  removeMachine,
} from '#server/domain/services/index.ts';
import {
  addMachine,
  adoptMachine,
  bootstrapModel,
  changeModel,
  createModel,
  deleteStorageAccount,
  getModel,
  getTopology,
  listInstances,
  listModels,
  listStorageAccounts,
  setStorageAccount,
} from '#server/domain/topology/index.ts';
import {
  type DeploymentInput,
  getDeployment,
  listCountedModels,
  listModelMachines,
  type ModelMachinesInput,
} from '#server/domain/views/index.ts';
import { type CallContext, mutation, plainQuery, query, router } from '../trpc.ts';

const deploymentForReader = (ctx: CallContext, input: DeploymentInput) =>
  getDeployment(ctx, { ...input, ...ctx.reader });

const machinesForReader = (ctx: CallContext, input: ModelMachinesInput) =>
  listModelMachines(ctx, { ...input, ...ctx.reader });

export const modelsRouter = router({
  addMachine: mutation(addMachine),
  adoptMachine: mutation(adoptMachine),
  applyDocument: mutation(applyDocument),
  bootstrap: mutation(bootstrapModel),
  change: mutation(changeModel),
  counted: plainQuery(listCountedModels),
  create: mutation(createModel),
  deleteStorageAccount: mutation(deleteStorageAccount),
  deployment: query(deploymentForReader),
  destroy: mutation(destroyModel),
  document: query(getDocument),
  get: query(getModel),
  instances: query(listInstances),
  list: plainQuery(listModels),
  machines: query(machinesForReader),
  planDocument: mutation(planDocument),
  removeMachine: mutation(removeMachine),
  setStorageAccount: mutation(setStorageAccount),
  storageAccounts: plainQuery(listStorageAccounts),
  topology: query(getTopology),
});
