import { expect, test } from 'vitest';
import { markOf, stepMarkLetters, stepMarks } from './step-marks.ts';
import { memberCounts } from './words.ts';

test('every count of members has one mark, and every mark has a letter', () => {
  for (const count of memberCounts) expect(stepMarks[markOf(count)], count).toBeDefined();
  expect(stepMarks[markOf('skipped')]).toBe('exempt');
  expect(new Set(stepMarkLetters).size).toBe(stepMarks.length);
});
