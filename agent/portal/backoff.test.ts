import { expect, test } from 'vitest';
import { backoff } from './backoff.ts';

/** Returns a backoff with a test clock, and with `share` in place of random numbers. */
function backoffAt(share: number) {
  const clock = { seconds: 100 };
  return { clock, pauses: backoff(1, 30, { random: () => share, now: () => clock.seconds }) };
}

test('attempts during a short outage do not lengthen the pause', () => {
  const { clock, pauses } = backoffAt(1);
  const seen = Array.from({ length: 20 }, () => {
    clock.seconds += 0.15;
    return pauses.next();
  });
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
});

test('without other attempts, the pause doubles up to the limit', () => {
  const { clock, pauses } = backoffAt(1);
  const seen = Array.from({ length: 8 }, () => {
    const seconds = pauses.next();
    clock.seconds += seconds;
    return seconds;
  });
  expect(seen).toEqual([1, 1, 2, 4, 8, 16, 30, 30]);
});

test('a success resets the pause', () => {
  const { clock, pauses } = backoffAt(1);
  pauses.next();
  clock.seconds += 3600;
  expect(pauses.next()).toBe(30);
  pauses.reset();
  expect(pauses.next()).toBe(1);
});

test('two machines wait for different lengths of time', () => {
  const [early, late] = [backoffAt(0), backoffAt(1)];
  expect([early.pauses.next(), late.pauses.next()]).toEqual([0.5, 1]);
});
