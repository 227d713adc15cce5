import { harmless } from './harmless.ts';

/**
 * Returns a line of CSV (RFC 4180). Texts are quoted, and escaped so that they cannot start a formula in a spreadsheet.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return String(cell);
    return `"${harmless(cell).replaceAll('"', '""')}"`;
  });
  return `${written.join(',')}\r\n`;
}
