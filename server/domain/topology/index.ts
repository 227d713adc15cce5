export { adoptedMachine, adoptMachine } from './adopt-machine.ts';
export {
  type AgentRequest,
  agentsFolder,
  dropAgentRequest,
  listAgentFolders,
  listRoleInstances,
  maxSpawnedAgents,
  readAgentRequest,
} from './agent-requests.ts';
export { bindInstance, moveInstance } from './bind-instance.ts';
export { bootstrapModel } from './bootstrap-model.ts';
export { type CreatedInstance, completeInstance, createInstance } from './create-instance.ts';
export { changeModel, createModel } from './create-model.ts';
export { deleteStorageAccount } from './delete-storage-account.ts';
export { destroyModel } from './destroy-model.ts';
export { markRole } from './discard-role.ts';
export { endpointsChannel } from './endpoint-rows.ts';
export { endpointView } from './endpoint-view.ts';
export { findMachine } from './find-machine.ts';
export { availabilitySetField, cloudServiceField, instanceIdField, modelField } from './fleet-fields.ts';
export { getTopology, readCloudServices, topology } from './get-topology.ts';
export { listEndpoints, publicEndpoints } from './list-endpoints.ts';
export { instance, instances, listInstances } from './list-instances.ts';
export { localFabric } from './local-fabric.ts';
export { type NewMachine, newMachine, showNewMachine } from './machine-view.ts';
export { addMachine, removeMachine, removeMachineIn } from './machines.ts';
export { mendTopology } from './mend-topology.ts';
export {
  lockModel,
  type ModelRow,
  readInventory,
  readModel,
  requireAlive,
  requireBootstrapped,
  updateModel,
} from './model-rows.ts';
export { getModel, listModels, type Model, type ModelCounts, model } from './model-view.ts';
export { noteFabric } from './note-fabric.ts';
export { planSwap, type SwapPlan, swapPlan } from './plan-swap.ts';
export type { CloudProvider } from './provider.ts';
export { readPlace } from './read-place.ts';
export { type Reachable, readReachable } from './read-reachable.ts';
export { renewPassword, rolePassword } from './renew-password.ts';
export { renewedToken, renewToken } from './renew-token.ts';
export { type InstanceUse, type Reservation, reserveInstanceIn } from './reserve-instance.ts';
export { resealRolePasswords } from './role-password.ts';
export { closeEndpoint, setEndpoint, setEndpointAnswer } from './set-endpoint.ts';
export { listStorageAccounts, setStorageAccount, storageAccount } from './set-storage-account.ts';
export { swap } from './swap.ts';
export type { SwappedService, SwapUnits, SwapUse } from './swap-use.ts';
export { changeUnitPorts, closeUnitPorts, lockPortsOf, tellExposure, type UnitPort } from './unit-ports.ts';
