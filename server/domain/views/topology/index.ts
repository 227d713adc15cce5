export { deploymentView } from './deployment-view.ts';
export { getDeployment } from './get-deployment.ts';
export { countedModel, listCountedModels } from './list-counted-models.ts';
export { listModelMachines } from './list-model-machines.ts';
