import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { StoredWarning } from '#db/schema/index.ts';

/** Maximum bytes of documents on one page of a list. A larger page ends early, and its cursor continues from there. */
export const maxListBytes = 4 * 1024 * 1024;

/**
 * SQL for the total bytes of the documents before each row, in the page's order. The total is 0 for the first row, so
 * no page is empty.
 */
export function bytesBefore(document: SQLWrapper, order: SQL): SQL.Aliased<number> {
  const bytes = sql`octet_length(${document}::text)`;
  return sql<number>`(sum(${bytes}) over (order by ${order}) - ${bytes})::float8`.as('bytes_before');
}

/** Number of rows on the page before truncation. */
export const rowsFound = sql<number>`(count(*) over ())::int`.as('rows_found');

/** Returns the size of a row as JSON, in bytes, including the separator. */
const jsonBytes = (row: unknown): number => Buffer.byteLength(JSON.stringify(row)) + 1;

/** Returns the first rows that fit into this many bytes, at least one. `leftOut` is the number of remaining rows. */
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

/**
 * Returns `leftOut`, the number of entries that each truncated list of a response omits; an empty object if all lists
 * are complete.
 */
export function leftOutOf<Name extends string>(
  counts: Readonly<Record<Name, number>>,
): { leftOut?: Partial<Record<Name, number>> } {
  const cut = Object.entries<number>(counts).filter(([, count]) => count > 0);
  return cut.length === 0 ? {} : { leftOut: Object.fromEntries(cut) as Partial<Record<Name, number>> };
}

/** Maximum bytes of a warning's sentence without its params. */
const sentenceBytes = 512;
const maxWarningBytes = 512 * 1024;

/** Returns the number of bytes that a warning takes in a response, including its sentence. */
export const warningBytes = (warning: StoredWarning): number => jsonBytes(warning) + sentenceBytes;

/** Returns the warnings that fit into a list. If some do not fit, the last warning says how many. */
export function fitWarnings(warnings: readonly StoredWarning[]): StoredWarning[] {
  const room = { bytes: maxWarningBytes, bytesOf: warningBytes };
  if (fitList(warnings, room).leftOut === 0) return [...warnings];
  // Leaves room for the warning that says how many are missing.
  const { kept, leftOut } = fitList(warnings, { ...room, bytes: room.bytes - 2 * sentenceBytes });
  return [...kept, { code: 'more_warnings', path: '', params: { count: leftOut } }];
}
