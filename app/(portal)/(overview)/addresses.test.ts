import { expect, test } from 'vitest';
import { overviewAddress, readGrouping, readRollout } from './addresses.ts';

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

test('the URL keeps the rollout by which the map is colored, with and without a grouping', () => {
  const id = '0d7a4f1e-0000-4000-8000-00000000000a';
  const parameters = new URL(overviewAddress('tag:region', id), 'http://portal').searchParams;
  expect([readGrouping(parameters.get('by')), readRollout(parameters.get('rollout'))]).toEqual(['tag:region', id]);
  expect(overviewAddress(undefined, id)).toBe(`/?rollout=${id}`);
  expect(overviewAddress(undefined)).toBe('/');
});

test.each([null, undefined, '', 'probe', '0d7a4f1e-0000-4000-8000-00000000000'])('%s is not a rollout', (text) => {
  expect(readRollout(text)).toBeUndefined();
});
