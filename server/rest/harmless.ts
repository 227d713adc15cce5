/**
 * What may stand before a sign without hiding it from a spreadsheet: white space of any script, marks that are not
 * seen (zero width, byte order, direction), controls.
 */
const unseen = String.raw`[\s\p{Cc}\p{Cf}]*`;

/** Signs with which a spreadsheet begins to calculate, in each width that some of them take for the plain ones. */
const signs = '[=+\\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B\u2212]';

const atStart = new RegExp(`^(?:${unseen}${signs}|[\\t\\r\\n])`, 'u');

/** Where a spreadsheet of another country takes a semicolon or a tab for the end of a cell. */
const afterSeparator = new RegExp(`([;\\t|\\r\\n]${unseen})(?=${signs})`, 'gu');

/**
 * A text that no spreadsheet takes for a formula: an apostrophe stands before every sign that could begin one, also
 * behind a character that ends a cell elsewhere.
 */
export function harmless(text: string): string {
  const inside = text.replaceAll(afterSeparator, "$1'");
  return atStart.test(text) ? `'${inside}` : inside;
}
