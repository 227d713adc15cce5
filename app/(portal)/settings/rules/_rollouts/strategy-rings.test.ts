import { expect, test } from 'vitest';
import { ringsOf } from './strategy-rings.ts';

test('rings of a strategy have a share, a number, or all VMs of a filter', () => {
  const rings = [
    { name: 'canary', filter: { tags: ['ring=canary'] }, upTo: null },
    { name: 'few', upTo: { count: 10 } },
    { name: 'all', upTo: { percent: 100 } },
  ];
  expect(ringsOf({ rings })).toEqual([
    { name: 'canary', percent: null, count: null },
    { name: 'few', percent: null, count: 10 },
    { name: 'all', percent: 100, count: null },
  ]);
});
