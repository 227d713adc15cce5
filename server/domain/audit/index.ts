export type { Act, ActionCode } from './act.ts';
export type { Cut } from './bounded.ts';
export { readHead } from './chain.ts';
export * from './check-chain.ts';
export * from './link-acts.ts';
export * from './record-audit.ts';
export * from './verify-activity.ts';
