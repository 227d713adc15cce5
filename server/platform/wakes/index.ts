export { natsWakes } from './nats-wakes.ts';
export { postgresWakes } from './postgres-wakes.ts';
export { tell, tellAfterCommit } from './tell.ts';
export type { Listener, Listening, Wakes } from './wakes.ts';
