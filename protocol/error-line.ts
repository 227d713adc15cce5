/** Words by which programs of many kinds name what went wrong. */
const wrong =
  /\b(errors?|err|fail(?:ed|ure|s)?|fatal|denied|cannot|can't|could not|not found|no such|refused|invalid|exception|traceback|panic|timed? ?out|unreachable)\b/i;

/** A line that goes on for longer is looked at no further. */
const mostCharacters = 2_000;

/** Whether a line of a command's output names an error. */
export const namesError = (line: string): boolean => wrong.test(line.slice(0, mostCharacters));

/** Where in a text the first line that names an error begins; null where none does. */
export function startOfError(text: string): number | null {
  const words = new RegExp(wrong, 'gi');
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    const start = text.lastIndexOf('\n', match.index - 1) + 1;
    if (match.index + match[0].length - start <= mostCharacters) return start;
    const end = text.indexOf('\n', match.index);
    if (end < 0) return null;
    words.lastIndex = end + 1;
  }
  return null;
}
