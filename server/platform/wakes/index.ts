export { natsWakes } from './nats-wakes.ts';
export { postgresWakes } from './postgres-wakes.ts';
export { publishLike, tell, tellAfterCommit, tellsByStatement } from './tell.ts';
export { waitUntil } from './wait-until.ts';
export type { Listener, Listening, Wakes } from './wakes.ts';
