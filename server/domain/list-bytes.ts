import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Bytes of documents in one page of a list: a page that would be larger ends early, and its cursor goes on from there. */
export const maxListBytes = 4 * 1024 * 1024;

/** The bytes of the documents before a row of a page, in the page's order; 0 for the first, so that no page is empty. */
export function bytesBefore(document: SQLWrapper, order: SQL): SQL.Aliased<number> {
  const bytes = sql`octet_length(${document}::text)`;
  return sql<number>`(sum(${bytes}) over (order by ${order}) - ${bytes})::float8`.as('bytes_before');
}

/** The number of rows of a page before it was cut. */
export const rowsFound = sql<number>`(count(*) over ())::int`.as('rows_found');
