import { type SQL, sql } from 'drizzle-orm';

/** SQL for the handlers of which a VM can have several extensions, according to any of their versions. */
export const handlersOfSeveralSql: SQL = sql`(
  select v.handler from handler_versions v
  where v.manifest->'handlerManifest'->'supportsMultipleExtensions' = 'true')`;
