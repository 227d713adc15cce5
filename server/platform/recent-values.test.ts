import { expect, test } from 'vitest';
import { RecentValues } from './recent-values.ts';

test('forgets the value that was not used for the longest time, and values that are deleted', () => {
  const values = new RecentValues<{ n: number }>(2);
  values.set('a', { n: 1 });
  values.set('b', { n: 2 });
  expect(values.get('a')).toEqual({ n: 1 });
  values.set('c', { n: 3 });
  expect([values.get('a'), values.get('b'), values.get('c')]).toEqual([{ n: 1 }, undefined, { n: 3 }]);
  values.delete('a');
  expect(values.get('a')).toBeUndefined();
});
