import { expect, test } from 'vitest';
import { createThrottle } from './throttle.ts';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000);

test('failures of one key are limited for a time; other keys are not affected', () => {
  const throttle = createThrottle(2, 60_000);
  throttle.take('a', at(0));
  throttle.take('a', at(30));
  expect(() => throttle.take('a', at(45))).toThrow(
    expect.objectContaining({ kind: 'rate_limited', code: 'too_many_attempts', retryAfter: 15 }),
  );
  throttle.take('b', at(45));
  throttle.take('a', at(60));
});

test('successes do not count, however many', () => {
  const throttle = createThrottle(1, 60_000);
  for (let i = 0; i < 100; i++) {
    throttle.take('a', at(i / 10));
    throttle.giveBack('a');
  }
  throttle.take('a', at(20));
  expect(() => throttle.take('a', at(21))).toThrow('too_many_attempts');
});

test('random keys do not fill the memory', () => {
  const throttle = createThrottle(1, 60_000);
  throttle.take('first', at(0));
  for (let i = 0; i < 50_000; i++) throttle.take(`key-${i}`, at(1));
  // The oldest key was evicted; the newest were not.
  throttle.take('first', at(2));
  expect(() => throttle.take('key-49999', at(2))).toThrow('too_many_attempts');
});
