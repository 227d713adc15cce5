import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { extensionHealths } from '#server/domain/verdicts/index.ts';

const places = sql.raw(`array[${extensionHealths.map((health) => `'${health}'`).join(', ')}]`);

/** SQL: `rankOf` a column of health; its last place for a word that a later release wrote. */
export const rankSql = (health: SQLWrapper): SQL =>
  sql`coalesce(array_position(${places}, ${health}) - 1, ${sql.raw(String(extensionHealths.length - 1))})`;
