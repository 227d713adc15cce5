import { type SQL, sql } from 'drizzle-orm';
import { archNames, systemNames } from '#protocol/platform.ts';

/**
 * SQL for the operating system of agent `a`; null if it is unknown. Follows the same rule as `platformOf` and
 * `platformFaults`: a stock agent counts as Linux, because stock agents run only on Linux but report the name of the
 * distribution.
 */
const systemSql: SQL = sql`(case when a.kind = 'stock' then 'linux' ${sql.join(
  systemNames.map(([os, names]) => sql`when lower(a.os ->> 'name') ~ ${names.source} then ${os}`),
  sql` `,
)} end)`;

const archSql: SQL = sql`(${JSON.stringify(archNames)}::jsonb ->> lower(a.os ->> 'arch'))`;

/** SQL condition: version `n` supports the platform of agent `a`, by the same rule as `supportsPlatform`. */
export const supportsAgentSql: SQL = sql`(n.platforms is null or exists (
  select from json_array_elements(n.platforms) p
  where coalesce(p ->> 'os' = ${systemSql}, true) and coalesce(p ->> 'arch' = ${archSql}, true)))`;

/** SQL condition: version `n` is published and higher than version `g` of the same handler. */
export const isNewerSql: SQL = sql`(
  n.handler = g.handler and n.state = 'published' and n.version_key > g.version_key)`;
