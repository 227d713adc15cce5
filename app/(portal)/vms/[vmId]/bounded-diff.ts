import { type Change, diffLines, diffWordsWithSpace } from 'diff';

/** Edits that are tried to find the smallest difference: the work grows with their square. */
export const maxLineEdits = 2_000;
const maxWordEdits = 200;

/** Lines that differ; where texts differ too much, all lines of both. */
export function diffLinesWithin(before: string, after: string): Change[] {
  return diffLines(before, after, { maxEditLength: maxLineEdits }) ?? whole(before, after);
}

/** Words that differ; where lines differ too much, all words of both. */
export function diffWordsWithin(before: string, after: string): Change[] {
  return diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits }) ?? whole(before, after);
}

const whole = (before: string, after: string): Change[] => [
  { value: before, added: false, removed: true, count: 1 },
  { value: after, added: true, removed: false, count: 1 },
];
