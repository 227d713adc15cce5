import { type Change, diffLines, diffWordsWithSpace } from 'diff';

/**
 * Maximum number of edits in a diff, because the cost of finding the smallest diff grows with the square of that
 * number.
 */
export const maxLineEdits = 2_000;
const maxWordEdits = 200;

/**
 * Compares two texts line by line. If they differ too much, treats the whole first text as removed and the whole second
 * text as added.
 */
export function diffLinesWithin(before: string, after: string): Change[] {
  return diffLines(before, after, { maxEditLength: maxLineEdits }) ?? whole(before, after);
}

/**
 * Compares two texts word by word. If they differ too much, treats the whole first text as removed and the whole second
 * text as added.
 */
export function diffWordsWithin(before: string, after: string): Change[] {
  return diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits }) ?? whole(before, after);
}

const whole = (before: string, after: string): Change[] => [
  { value: before, added: false, removed: true, count: 1 },
  { value: after, added: true, removed: false, count: 1 },
];
