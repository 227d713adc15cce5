import { expect, test } from 'vitest';
import { createFailedAttempts } from './failed-attempts.ts';

const start = new Date('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000);
const holds = (check: () => void): boolean => {
  try {
    check();
    return false;
  } catch {
    return true;
  }
};

function fail(address: string, times: number) {
  const failed = createFailedAttempts();
  for (let attempt = 0; attempt < times; attempt++) failed.wrong(address, start);
  return failed;
}

test.each<[string, number, string, number, boolean]>([
  ['the 30th attempt is accepted', 29, '10.0.0.1', 0, false],
  ['then the address must wait', 30, '10.0.0.1', 0, true],
  ['until the end of the minute', 30, '10.0.0.1', 59, true],
  ['and not longer', 30, '10.0.0.1', 60, false],
  ['other addresses need not wait', 30, '10.0.0.2', 0, false],
])('%s', (_what, times, address, seconds, held) => {
  const failed = fail('10.0.0.1', times);
  expect(holds(() => failed.check(address, 'Bearer x', after(seconds)))).toBe(held);
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['2001:db8::1', '2001:db8:0:0:5::', true],
  ['::1', '::2', true],
])('an IPv6 household counts as one address: %s and %s', (one, other, held) => {
  const failed = fail(one, 30);
  expect(holds(() => failed.check(other, 'Bearer x', start))).toBe(held);
});
