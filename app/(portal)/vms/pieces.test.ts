import { expect, test } from 'vitest';
import { pieces } from './pieces.ts';

const written = (...asked: Parameters<typeof pieces>): string =>
  pieces(...asked)
    .map(({ at, gap }) => (gap === undefined ? `${at}` : `${at}+${gap}`))
    .join(' ');

test.each([
  ['all here', 0, 2, () => true, '0 1 2 3+97'],
  ['in the middle', 10, 12, () => true, '0+10 10 11 12 13+87'],
  ['at the end', 98, 99, () => true, '0+98 98 99'],
  ['nothing here yet', 40, 60, () => false, '0+100'],
  ['the first half here', 10, 13, (at: number) => at < 12, '0+10 10 11 12+88'],
  ['the second half here', 10, 13, (at: number) => at >= 12, '0+12 12 13 14+86'],
  ['a hole', 10, 13, (at: number) => at !== 11, '0+10 10 11+1 12 13 14+86'],
])('%s', (_, first, last, isHere, expected) => {
  expect(written(first, last, 100, isHere)).toBe(expected);
});

test('an empty list has no pieces', () => {
  expect(pieces(0, 0, 0, () => false)).toEqual([]);
});
