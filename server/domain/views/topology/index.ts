export { type DeploymentView, deploymentView } from './deployment-view.ts';
export { getDeployment } from './get-deployment.ts';
export { type CountedModel, listCountedModels } from './list-counted-models.ts';
export { listModelMachines, type ModelMachine } from './list-model-machines.ts';
export type { VmRole } from './role-place.ts';
