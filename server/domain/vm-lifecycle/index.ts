export { deleteVm } from './delete-vm.ts';
export { decommissionVm, removeVm } from './remove-vm.ts';
