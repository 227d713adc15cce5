export * from './live.ts';
export type { Change } from './ring.ts';
