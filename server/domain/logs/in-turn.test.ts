import { expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';

test('of one key one after the other, also after a failure; other keys at once', async () => {
  const told: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = inTurn('a', async () => {
    told.push('a1');
    await gate.promise;
    throw new Error('it did not work');
  });
  const second = inTurn('a', async () => told.push('a2'));
  await inTurn('b', async () => told.push('b'));
  expect(told).toEqual(['a1', 'b']);
  gate.resolve();
  await expect(first).rejects.toThrow('it did not work');
  await second;
  expect(told).toEqual(['a1', 'b', 'a2']);
});
