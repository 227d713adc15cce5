import { namesError } from '#protocol/error-line.ts';

export interface ErrorLine {
  /** Counted from 1. */
  line: number;
  text: string;
}

/**
 * An output of at least this length may be truncated: the portal returns the last whole lines, up to 4,000 characters.
 */
const almostTail = 3_500;

/** Whether earlier lines may be missing, so that line numbers are unknown. */
export const isTail = (output: string): boolean => output.length >= almostTail;

/**
 * Returns the first line of a failed command's output that reports an error, otherwise the last line with text; null if
 * no line has text.
 */
export function firstError(output: string): ErrorLine | null {
  const lines = output.split('\n').map((text, index) => ({ line: index + 1, text: text.trim() }));
  const withText = lines.filter(({ text }) => text !== '');
  return withText.find(({ text }) => namesError(text)) ?? withText.at(-1) ?? null;
}
