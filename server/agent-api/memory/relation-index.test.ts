import { expect, test } from 'vitest';
import { RelationIndex } from './relation-index.ts';

test('a relation leads to the VMs that take part, until they leave it or are forgotten', () => {
  const index = new RelationIndex();
  index.set('a', [1, 2]);
  index.set('b', [2]);
  expect([index.vmsOf(1), index.vmsOf(2), index.vmsOf(3)]).toEqual([['a'], ['a', 'b'], []]);
  expect([index.largestOf('a'), index.largestOf('b'), index.largestOf('c')]).toEqual([2, 2, 0]);
  index.set('a', [3]);
  expect([index.vmsOf(1), index.vmsOf(2), index.vmsOf(3)]).toEqual([[], ['b'], ['a']]);
  index.forget('b');
  expect(index.vmsOf(2)).toEqual([]);
});
