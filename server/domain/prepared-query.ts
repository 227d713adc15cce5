import type { Database } from '#db/client.ts';
import { slot } from '#server/platform/process-memory.ts';
import type { Context } from './context.ts';

/**
 * Declares a query that a process builds once per database, and PostgreSQL plans once per connection: for frequent
 * queries of many tables, whose text and plan cost more than their rows. `build` ends with Drizzle's `prepare(name)`.
 */
export function preparedQuery<Query>(build: (db: Database) => Query): (ctx: Pick<Context, 'db' | 'memory'>) => Query {
  const built = slot(() => new WeakMap<Database, Query>());
  return ({ db, memory }) => {
    const known = memory.of(built);
    const query = known.get(db) ?? build(db);
    known.set(db, query);
    return query;
  };
}
