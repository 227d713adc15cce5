import { expect, test } from 'vitest';
import { areaOf, lineOf, rangeOf } from './plot-paths.ts';

const scale = { width: 100, height: 10, top: 10, bottom: 0, times: [1_000, 1_500, 2_000] };

test('a line keeps each value until the next one', () => {
  expect(lineOf(scale, [0, 5, 10])).toBe('M0 10H50V5H100V0');
});

test('an area is closed along its lower line', () => {
  expect(areaOf(scale, [0, 2, 4], [5, 6, 10])).toBe('M0 5H50V4H100V0V6H100V8H50V10H0Z');
});

test('the edges include zero and every value, with some room', () => {
  expect(rangeOf([[1, 2], [10]])).toEqual({ top: 11, bottom: 0 });
  expect(rangeOf([[-10, 2]]).bottom).toBe(-11);
  expect(rangeOf([[]])).toEqual({ top: 1, bottom: 0 });
});
