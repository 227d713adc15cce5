import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/**
 * SQL condition for the rows of these VMs. For one VM, it compares with one id, so that a distributed database runs the
 * statement on a single shard.
 */
export const ofVms = (column: SQLWrapper, vmIds: readonly string[]): SQL =>
  vmIds.length === 1 ? sql`${column} = ${vmIds[0]}` : sql`${column} = any(${sql.param(vmIds)}::uuid[])`;
