export { endHolds } from './end-holds.ts';
export { type HeldVm, type Hold, hold, holdOf } from './hold.ts';
export { holdVm } from './hold-vm.ts';
export { readHold, readHoldPauses } from './read-hold.ts';
export { releaseHold } from './release-hold.ts';
export { dropHold, endHoldIn, setHoldIn } from './rows.ts';
