import { setImmediate as soon } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { concurrentReads, SessionReads } from './session-reads.ts';

/** Returns a function that starts reads, and the functions that complete them. */
function held() {
  const open: (() => void)[] = [];
  const read = () => new Promise<void>((resolve) => open.push(resolve));
  return { open, read };
}

test('a burst of one session runs a few reads at a time and does not delay another session', async () => {
  const reads = new SessionReads();
  const burst = held();
  const all = Promise.all(Array.from({ length: 50 }, () => reads.run('busy', burst.read)));
  await soon();
  expect(burst.open).toHaveLength(concurrentReads);
  await expect(reads.run('calm', async () => 'here')).resolves.toBe('here');
  for (let done = 0; done < 50; done++) {
    burst.open[done]?.();
    await soon();
    expect(burst.open.length - done - 1).toBeLessThanOrEqual(concurrentReads);
  }
  await all;
});

test('a failed read frees its slot', async () => {
  const reads = new SessionReads();
  const failing = Array.from({ length: concurrentReads * 2 }, () =>
    reads.run('failing', () => Promise.reject(new Error('down'))),
  );
  expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true);
  await expect(reads.run('failing', async () => 'up')).resolves.toBe('up');
});
