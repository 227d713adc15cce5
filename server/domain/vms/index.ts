export { getVm } from './get-vm.ts';
export { insertVm } from './insert-vm.ts';
export { listVms } from './list-vms.ts';
export { updateVm } from './update-vm.ts';
export type { Vm } from './vm.ts';
