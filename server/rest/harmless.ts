/**
 * Characters that a spreadsheet may ignore before the sign that starts a formula: Unicode whitespace, control
 * characters, and invisible marks (zero width, byte order, direction).
 */
const unseen = String.raw`[\s\p{Cc}\p{Cf}]*`;

/** Signs that start a formula in some spreadsheets, including their full-width and small forms. */
const signs = '[=+\\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B\u2212]';

const atStart = new RegExp(`^(?:${unseen}${signs}|[\\t\\r\\n])`, 'u');

/** Matches a separator before one of the signs, because in some locales, a semicolon or a tab ends a cell. */
const afterSeparator = new RegExp(`([;\\t|\\r\\n]${unseen})(?=${signs})`, 'gu');

/**
 * Escapes a text for spreadsheets: puts an apostrophe before every sign that could start a formula, at the start or
 * after a character that separates cells in some locale.
 */
export function harmless(text: string): string {
  const inside = text.replaceAll(afterSeparator, "$1'");
  return atStart.test(text) ? `'${inside}` : inside;
}
