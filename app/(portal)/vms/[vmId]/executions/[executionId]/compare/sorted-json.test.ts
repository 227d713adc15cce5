import { expect, test } from 'vitest';
import { sortedJson } from './sorted-json.ts';

test('the order of keys makes no difference, and the order of a list does', () => {
  expect(sortedJson({ b: [{ d: 1, c: 2 }], a: null })).toBe(sortedJson({ a: null, b: [{ c: 2, d: 1 }] }));
  expect(sortedJson([1, 2])).not.toBe(sortedJson([2, 1]));
});
