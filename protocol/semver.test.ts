import { expect, test } from 'vitest';
import { isRunbookVersion, isSemver } from './semver.ts';

test.each<[unknown, boolean]>([
  ['1.0.0', true],
  ['v1.0.0', false],
  ['1.0.0 ', false],
  ['1.0', false],
  [1, false],
])('%j is a semantic version: %s', (value, is) => {
  expect(isSemver(value)).toBe(is);
});

test.each(['1.0.0', '0.0.1', '2.0.0-rc.1'])('%s is a version of a runbook', (text) => {
  expect(isRunbookVersion(text)).toBe(true);
});

test.each(['1.0', 'v1.0.0', '1.0.0+build', ' 1.0.0', '01.0.0', '', `1.0.0-${'a'.repeat(64)}`])(
  '%j is not a version of a runbook',
  (text) => {
    expect(isRunbookVersion(text)).toBe(false);
  },
);
