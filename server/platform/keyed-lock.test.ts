import { expect, test } from 'vitest';
import { KeyedLock } from './keyed-lock.ts';

test('functions with the same key run in order, even after a failure; other keys do not wait', async () => {
  const lock = new KeyedLock();
  const steps: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = lock.run('a', async () => {
    steps.push('a1');
    await gate.promise;
    throw new Error('it failed');
  });
  const second = lock.run('a', async () => steps.push('a2'));
  await lock.run('b', async () => steps.push('b'));
  expect(steps).toEqual(['a1', 'b']);
  gate.resolve();
  await expect(first).rejects.toThrow('it failed');
  await second;
  expect(steps).toEqual(['a1', 'b', 'a2']);
});
