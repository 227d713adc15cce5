import { expect, test } from 'vitest';
import { shortDuration } from './short-duration.ts';

test.each([
  [0, { unit: 'ms', n: 0 }],
  [999, { unit: 'ms', n: 999 }],
  [1_000, { unit: 's', n: 1 }],
  [9_999, { unit: 's', n: 9.9 }],
  [48_300, { unit: 's', n: 48 }],
  [256_000, { unit: 'clock', text: '4:16' }],
  [3_600_000, { unit: 'clock', text: '1:00:00' }],
])('%i ms are shown as %j', (ms, expected) => {
  expect(shortDuration(ms)).toEqual(expected);
});
