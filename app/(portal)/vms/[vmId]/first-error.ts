/** Words by which programs of many kinds name what went wrong. */
const wrong =
  /\b(errors?|err|fail(?:ed|ure|s)?|fatal|denied|cannot|can't|could not|not found|no such|refused|invalid|exception|traceback|panic|timed? ?out|unreachable)\b/i;

export interface ErrorLine {
  /** 1-based. */
  line: number;
  text: string;
}

/** The first line of a failed command's output that names an error; its last words where none does. */
export function firstError(output: string): ErrorLine | null {
  const lines = output.split('\n').map((text, index) => ({ line: index + 1, text: text.trim() }));
  const spoken = lines.filter(({ text }) => text !== '');
  return spoken.find(({ text }) => wrong.test(text)) ?? spoken.at(-1) ?? null;
}
