export { getVm } from './get-vm.ts';
export { insertVm } from './insert-vm.ts';
export { type RefusalCode, refusalCodes, showRejection } from './show-rejection.ts';
export { updateVm } from './update-vm.ts';
export { type Vm, vm, vmOf } from './vm.ts';
export { clearRefusals, lockVm, markDecommissioning, markDeleted, setInstanceId } from './vm-rows.ts';
