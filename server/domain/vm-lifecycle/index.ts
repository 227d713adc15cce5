export { deleteVm } from './delete-vm.ts';
export { removeVm } from './remove-vm.ts';
