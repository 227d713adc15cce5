import { expect, test } from 'vitest';
import { overviewAddress, readGrouping } from './addresses.ts';

test.each(['none', 'handler', 'tag:region', 'tag:a=b & c/ü:d'] as const)('the URL keeps the grouping %s', (by) => {
  const address = new URL(overviewAddress(by), 'http://portal');
  expect([address.pathname, readGrouping(address.searchParams.get('by'))]).toEqual(['/', by]);
});

test.each([null, undefined, '', 'tag:', 'region', `tag:${'x'.repeat(257)}`, 'tag:\0', 'tag:\ud800'])(
  '%s is not a grouping',
  (by) => {
    expect(readGrouping(by)).toBeUndefined();
  },
);
