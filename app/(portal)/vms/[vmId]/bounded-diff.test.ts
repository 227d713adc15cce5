import { expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { diffLinesWithin, diffWordsWithin } from './bounded-diff.ts';
import { hunksBetween } from './goal-states/diff-rows.ts';

const text = (prefix: string, count: number, separator: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`).join(separator);

test('small differences are found', () => {
  expect(diffLinesWithin('a\nb\nc\n', 'a\nx\nc\n').map(({ value }) => value)).toEqual(['a\n', 'b\n', 'x\n', 'c\n']);
  expect(diffWordsWithin('one two', 'one three').at(-1)).toMatchObject({ value: 'three', added: true });
});

longTest('settings of 256 KiB that differ in every line and word are compared quickly, as a whole', () => {
  const [before, after] = [text('a', 40_000, '\n'), text('b', 40_000, '\n')];
  const begun = performance.now();
  expect(diffLinesWithin(before, after)).toMatchObject([
    { value: before, removed: true },
    { value: after, added: true },
  ]);
  const words = diffWordsWithin(text('a', 20_000, ' '), text('b', 20_000, ' '));
  expect(words).toMatchObject([{ removed: true }, { added: true }]);
  const [hunk] = hunksBetween(before, after);
  expect(hunk?.rows.length).toBeGreaterThanOrEqual(40_000);
  expect(performance.now() - begun).toBeLessThan(20_000);
});
