import { expect, test } from 'vitest';
import { edgesOf } from './dependency-layout.ts';

test('edges lead to the dependent extension, and those of a cycle are marked', () => {
  const extensions = [
    { name: 'a', dependsOn: ['b'] },
    { name: 'b', dependsOn: ['a'] },
    { name: 'c', dependsOn: ['a', 'unknown'] },
  ];
  expect(edgesOf(extensions)).toEqual([
    { from: 'b', to: 'a', inCycle: true },
    { from: 'a', to: 'b', inCycle: true },
    { from: 'a', to: 'c', inCycle: false },
  ]);
});
