import { setImmediate as soon } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTurn, readsAtOnce } from './turns.ts';

/** Reads that end when the test says so. */
function held() {
  const open: (() => void)[] = [];
  const read = () => new Promise<void>((resolve) => open.push(resolve));
  return { open, read };
}

test('a burst of one session is read a few at a time, and another session does not wait for it', async () => {
  const burst = held();
  const all = Promise.all(Array.from({ length: 50 }, () => inTurn('busy', burst.read)));
  await soon();
  expect(burst.open).toHaveLength(readsAtOnce);
  await expect(inTurn('calm', async () => 'here')).resolves.toBe('here');
  for (let done = 0; done < 50; done++) {
    burst.open[done]?.();
    await soon();
    expect(burst.open.length - done - 1).toBeLessThanOrEqual(readsAtOnce);
  }
  await all;
});

test('what fails gives its place to the next', async () => {
  const failing = Array.from({ length: readsAtOnce * 2 }, () =>
    inTurn('failing', () => Promise.reject(new Error('down'))),
  );
  expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true);
  await expect(inTurn('failing', async () => 'up')).resolves.toBe('up');
});
