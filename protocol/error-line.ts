/** Words by which programs of many kinds name what went wrong. */
const wrong =
  /\b(errors?|err|fail(?:ed|ure|s)?|fatal|denied|cannot|can't|could not|not found|no such|refused|invalid|exception|traceback|panic|timed? ?out|unreachable)\b/i;

/** A line that goes on for longer is looked at no further. */
const mostCharacters = 2_000;

/** Whether a line of a command's output names an error. */
export const namesError = (line: string): boolean => wrong.test(line.slice(0, mostCharacters));
