export { getInstanceView } from './get-instance-view.ts';
export { getTimeline } from './get-timeline.ts';
export { getVmFacts, type VmFacts } from './get-vm-facts.ts';
export * from './input.ts';
export type * from './instance-view.ts';
export { type FleetRow, listFleet } from './list-fleet.ts';
export * from './overview/index.ts';
export type { Timeline } from './timeline.ts';
