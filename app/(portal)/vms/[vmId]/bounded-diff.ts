import { type Change, diffLines, diffWordsWithSpace } from 'diff';

/**
 * Maximum number of edits when searching for the smallest difference. The cost of the search grows with their square.
 */
export const maxLineEdits = 2_000;
const maxWordEdits = 200;

/**
 * Compares two texts line by line. If they differ too much, all of the first counts as removed and all of the second as
 * added.
 */
export function diffLinesWithin(before: string, after: string): Change[] {
  return diffLines(before, after, { maxEditLength: maxLineEdits }) ?? whole(before, after);
}

/**
 * Compares two texts word by word. If they differ too much, all of the first counts as removed and all of the second as
 * added.
 */
export function diffWordsWithin(before: string, after: string): Change[] {
  return diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits }) ?? whole(before, after);
}

const whole = (before: string, after: string): Change[] => [
  { value: before, added: false, removed: true, count: 1 },
  { value: after, added: true, removed: false, count: 1 },
];
