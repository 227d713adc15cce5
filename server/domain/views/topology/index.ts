export { deploymentView } from './deployment-view.ts';
export { getDeployment } from './get-deployment.ts';
export { listCountedModels } from './list-counted-models.ts';
export { listModelMachines } from './list-model-machines.ts';
