export { PostgresWakes } from './postgres-wakes.ts';
export { tell } from './tell.ts';
export type { Listener, Listening, Wakes } from './wakes.ts';
