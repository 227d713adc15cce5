import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { StoredWarning } from '#db/schema/index.ts';

/** Bytes of documents on one page of a list. A page that would be larger ends early, and its cursor continues there. */
export const maxListBytes = 4 * 1024 * 1024;

/** Bytes of the documents before a row of a page, in the page's order; 0 for the first row, so no page is empty. */
export function bytesBefore(document: SQLWrapper, order: SQL): SQL.Aliased<number> {
  const bytes = sql`octet_length(${document}::text)`;
  return sql<number>`(sum(${bytes}) over (order by ${order}) - ${bytes})::float8`.as('bytes_before');
}

/** The number of rows of a page before it was cut. */
export const rowsFound = sql<number>`(count(*) over ())::int`.as('rows_found');

/** Bytes of a row as JSON, with the separator. */
const jsonBytes = (row: unknown): number => Buffer.byteLength(JSON.stringify(row)) + 1;

/** The first rows of a list that fit into these bytes, at least one; `leftOut` counts the others. */
export function fitList<Row>(
  rows: readonly Row[],
  { bytes = maxListBytes, bytesOf = jsonBytes }: { bytes?: number; bytesOf?: (row: Row) => number } = {},
): { kept: Row[]; leftOut: number } {
  let left = bytes;
  const end = rows.findIndex((row, index) => {
    left -= bytesOf(row);
    return left < 0 && index > 0;
  });
  const kept = end < 0 ? [...rows] : rows.slice(0, end);
  return { kept, leftOut: rows.length - kept.length };
}

/** How many entries each truncated list of a response lacks. Absent if all are complete. */
export function leftOutOf<Name extends string>(
  counts: Readonly<Record<Name, number>>,
): { leftOut?: Partial<Record<Name, number>> } {
  const cut = Object.entries<number>(counts).filter(([, count]) => count > 0);
  return cut.length === 0 ? {} : { leftOut: Object.fromEntries(cut) as Partial<Record<Name, number>> };
}

/** Maximum length of a warning's sentence without its params. */
const sentenceBytes = 512;
const maxWarningBytes = 512 * 1024;

/** Bytes of a warning in an answer, with its sentence. */
export const warningBytes = (warning: StoredWarning): number => jsonBytes(warning) + sentenceBytes;

/** The warnings that fit into a list; if some do not, the last one says how many. */
export function fitWarnings(warnings: readonly StoredWarning[]): StoredWarning[] {
  const room = { bytes: maxWarningBytes, bytesOf: warningBytes };
  if (fitList(warnings, room).leftOut === 0) return [...warnings];
  // Leaves room for the warning that counts the others.
  const { kept, leftOut } = fitList(warnings, { ...room, bytes: room.bytes - 2 * sentenceBytes });
  return [...kept, { code: 'more_warnings', path: '', params: { count: leftOut } }];
}
