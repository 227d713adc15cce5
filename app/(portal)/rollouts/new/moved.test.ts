import { expect, test } from 'vitest';
import { movedRows } from './moved.ts';

test('RO-5 lists how many VMs moved from which kind to which', () => {
  expect(movedRows({ 'update-none': 3, 'settings-update': 1, limit: 0 })).toEqual([
    { from: 'update', to: 'none', count: 3 },
    { from: 'settings', to: 'update', count: 1 },
  ]);
});
