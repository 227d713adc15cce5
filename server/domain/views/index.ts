export { getInstanceView } from './get-instance-view.ts';
export * from './input.ts';
export type * from './instance-view.ts';
export { listHealth, type VmHealthSummary } from './list-health.ts';
