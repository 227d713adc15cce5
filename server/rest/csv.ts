/** What a spreadsheet may take for a formula, or for the end of a cell. */
const dangerous = /^[=+\-@\t\r\n]/;

/**
 * One line of CSV (RFC 4180). Text that a spreadsheet would run as a formula begins with an apostrophe, also after
 * blanks; every text stands in quotes.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return String(cell);
    const safe = dangerous.test(cell.trimStart()) || dangerous.test(cell) ? `'${cell}` : cell;
    return `"${safe.replaceAll('"', '""')}"`;
  });
  return `${written.join(',')}\r\n`;
}
