import { setImmediate as nextEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Batches } from './batches.ts';

test('items of concurrent calls are processed together, and each call gets its own result', async () => {
  const batches = new Batches<number, string>({ items: 100, atOnce: 2 });
  const sizes: number[] = [];
  const run = async (items: readonly number[]) => {
    sizes.push(items.length);
    return items.map((item) => `result ${item}`);
  };
  expect(await Promise.all([1, 2, 3].map((item) => batches.run(item, run)))).toEqual([
    'result 1',
    'result 2',
    'result 3',
  ]);
  expect(await batches.run(4, run)).toBe('result 4');
  expect(sizes).toEqual([3, 1]);
});

test('items that arrive while all batches are running wait, in batches within the bounds', async () => {
  const batches = new Batches<number, number>({ items: 4, atOnce: 2 });
  const gates: PromiseWithResolvers<void>[] = [];
  const begun: (readonly number[])[] = [];
  const run = async (items: readonly number[]) => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    begun.push(items);
    await gate.promise;
    return items;
  };
  const results = Promise.all(Array.from({ length: 13 }, (_, item) => batches.run(item, run)));
  for (let open = 0; open < 4; open += 1) {
    await expect.poll(() => begun.length).toBeGreaterThan(open);
    await nextEvents();
    expect(begun.length - open).toBeLessThanOrEqual(2);
    gates[open]?.resolve();
  }
  expect(await results).toEqual(Array.from({ length: 13 }, (_, item) => item));
  expect(begun.map((items) => items.length)).toEqual([4, 4, 4, 1]);
});

test('a batch that fails fails only its own items', async () => {
  const batches = new Batches<string, string>({ items: 1, atOnce: 1 });
  const run = async (items: readonly string[]) => {
    if (items[0] === 'bad') throw new Error('no');
    return items;
  };
  const results = await Promise.allSettled(['bad', 'good'].map((item) => batches.run(item, run)));
  expect(results).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 'good' }]);
  await expect(batches.run('good', async () => [])).rejects.toThrow('1 items have 0 results');
});
