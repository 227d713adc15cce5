export * from './live.ts';
export type { Change } from './ring.ts';
export { openStreams, type Streams } from './streams.ts';
