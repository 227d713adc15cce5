/** Control characters, and those that change the direction or order of text. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes text of handlers, portals and files safe to print: escape sequences could otherwise manipulate the terminal.
 * Escapes as JSON does, so JSON stays valid and unchanged in meaning; keeps line breaks and tabs.
 */
export function escapeControls(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(unsafe, (character) => ('\n\t'.includes(character) ? character : escapeOf(character)));
}

/** The same for text on one line: line breaks could otherwise imitate lines of the agent. */
export function escapeLine(text: string): string {
  return text.replace(unsafe, escapeOf);
}

/** Text whose further lines are indented, so that none of them looks like a line of the journal. */
export function indented(text: string, columns: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(columns)}`);
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
