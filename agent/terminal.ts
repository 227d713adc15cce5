/** Control characters, and those that change the direction or order of text. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes text from handlers, portals and files safe to print: escape sequences could manipulate the terminal. Escapes as
 * JSON does, so that JSON stays valid and keeps its meaning. Keeps line breaks and tabs.
 */
export function escapeControls(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(unsafe, (character) => ('\n\t'.includes(character) ? character : escapeOf(character)));
}

/** Like `escapeControls`, for text on one line. Also escapes line breaks, which could imitate the agent's own lines. */
export function escapeLine(text: string): string {
  return text.replace(unsafe, escapeOf);
}

/** Indents all lines after the first, so that none of them looks like a line of the journal. */
export function indented(text: string, columns: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(columns)}`);
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
