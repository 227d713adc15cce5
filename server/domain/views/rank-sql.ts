import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { extensionHealths } from '#server/domain/verdicts/index.ts';

const places = sql.raw(`array[${extensionHealths.map((health) => `'${health}'`).join(', ')}]`);

/** SQL for the rank of a health column, as in `rankOf`. A value that this release does not know ranks last. */
export const rankSql = (health: SQLWrapper): SQL =>
  sql`coalesce(array_position(${places}, ${health}) - 1, ${sql.raw(String(extensionHealths.length - 1))})`;
