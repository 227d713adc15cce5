/** Words that programs use in error messages. */
const wrong =
  /\b(errors?|err|fail(?:ed|ure|s)?|fatal|denied|cannot|can't|could not|not found|no such|refused|invalid|exception|traceback|panic|timed? ?out|unreachable)\b/i;

/** Maximum number of characters of a line that are searched. */
const maxCharacters = 2_000;

/** Whether a line of command output reports an error. */
export const namesError = (line: string): boolean => wrong.test(line.slice(0, maxCharacters));

/** Returns the offset of the first line that reports an error, or null. */
export function startOfError(text: string): number | null {
  const words = new RegExp(wrong, 'gi');
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    const start = text.lastIndexOf('\n', match.index - 1) + 1;
    if (match.index + match[0].length - start <= maxCharacters) return start;
    const end = text.indexOf('\n', match.index);
    if (end < 0) return null;
    words.lastIndex = end + 1;
  }
  return null;
}
