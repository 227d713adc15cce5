import { type Change, diffLines, diffWordsWithSpace } from 'diff';

/** Limit on the search for the smallest difference, whose work grows with the square of the number of edits. */
export const maxLineEdits = 2_000;
const maxWordEdits = 200;

/** Returns the lines that differ. If the texts differ too much, returns all lines of both. */
export function diffLinesWithin(before: string, after: string): Change[] {
  return diffLines(before, after, { maxEditLength: maxLineEdits }) ?? whole(before, after);
}

/** Returns the words that differ. If the lines differ too much, returns all words of both. */
export function diffWordsWithin(before: string, after: string): Change[] {
  return diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits }) ?? whole(before, after);
}

const whole = (before: string, after: string): Change[] => [
  { value: before, added: false, removed: true, count: 1 },
  { value: after, added: true, removed: false, count: 1 },
];
