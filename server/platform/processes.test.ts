import { expect, test } from 'vitest';
import { signal } from './processes.ts';

test.each([0, -1, 1.5, Number.NaN])('does not signal %d, which can mean a group of processes', (pid) => {
  expect(() => signal(pid, 'SIGCONT')).toThrow(RangeError);
});

test('signaling a process that has ended is not an error', () => {
  expect(() => signal(2 ** 30, 'SIGCONT')).not.toThrow();
});
