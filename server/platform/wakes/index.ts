export { natsWakes } from './nats-wakes.ts';
export { postgresWakes } from './postgres-wakes.ts';
export { tell, tellAfterCommit, tellsByStatement } from './tell.ts';
export type { Listener, Listening, Wakes } from './wakes.ts';
