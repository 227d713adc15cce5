export { readDatabaseUrl } from './address.ts';
export { toPrimary } from './primary.ts';
