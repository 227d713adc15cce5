import { expect, test } from 'vitest';
import { median, medianInterval } from './section.ts';

test('the interval contains the median, and is narrow for many values and wide for few', () => {
  const hundred = Array.from({ length: 101 }, (_, n) => (n * 37) % 101);
  expect([median(hundred), medianInterval(hundred)]).toEqual([50, [40, 60]]);
  expect(medianInterval([3, 1, 2])).toEqual([1, 3]);
  expect(medianInterval([])).toEqual([0, 0]);
});
