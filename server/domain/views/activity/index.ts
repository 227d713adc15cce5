export * from './count-newer-acts.ts';
export type { Difference } from './diff.ts';
export * from './get-act.ts';
export * from './get-activity-chain.ts';
export * from './get-activity-facets.ts';
export { type ActivityPage, type ActRow, listActivity } from './list-activity.ts';
export * from './read-activity.ts';
