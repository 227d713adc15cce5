export { readDatabaseUrl } from './address.ts';
export { type Primary, toPrimary } from './primary.ts';
