import { harmless } from './harmless.ts';

/**
 * One line of CSV (RFC 4180). No spreadsheet takes a text for a formula; every text stands in quotes, so that an
 * apostrophe, a comma or a break in it means nothing.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return String(cell);
    return `"${harmless(cell).replaceAll('"', '""')}"`;
  });
  return `${written.join(',')}\r\n`;
}
