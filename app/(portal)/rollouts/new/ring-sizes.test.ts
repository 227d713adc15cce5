import { expect, test } from 'vitest';
import { ringSizes } from './ring-sizes.ts';

const upTo = (...shares: number[]) => shares.map((percent) => ({ name: `${percent}`, upTo: { percent } }));

test('RO-8 shows the sizes that the plan computes', () => {
  expect(ringSizes(upTo(33, 66, 100), 10)).toEqual([4, 3, 3]);
  expect(ringSizes(upTo(1, 10, 50, 100), 7)).toEqual([1, 0, 3, 3]);
});

test('the size of a ring with a filter, and of those after it, is known only after planning', () => {
  const canary = { name: 'canary', filter: { tags: [{ name: 'ring', value: 'canary' }] }, upTo: null };
  expect(ringSizes([...upTo(10), canary, ...upTo(100)], 100)).toEqual([10, null, null]);
});

test('a limit that is not a number has no size', () => {
  expect(ringSizes(upTo(Number.NaN, 100), 10)).toEqual([null, null]);
});
