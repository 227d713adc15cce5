import { expect, test } from 'vitest';
import { addressOfFilter, filterOfAddress, queryOfFilter } from './executions-address.ts';

const rollout = '018f0000-0000-7000-8000-000000000000';

test('a filter stays the same when it is written to a URL and read again', () => {
  const filter = { state: 'timed-out', code: 10, by: 'Ada Brandt', runbook: 'rotate', rollout, q: 'web & 1' } as const;
  expect(filterOfAddress(Object.fromEntries(new URLSearchParams(addressOfFilter(filter))))).toEqual(filter);
  expect(addressOfFilter({})).toBe('');
});

test('people filter by the reason of a cancellation as by a state', () => {
  expect(queryOfFilter({ state: 'failed', q: 'web' })).toEqual({ state: 'failed', q: 'web' });
  expect(queryOfFilter({ state: 'cancelled' })).toEqual({ state: 'cancelled', cancellation: 'cancelled' });
  expect(queryOfFilter({ state: 'declined' })).toEqual({ state: 'cancelled', cancellation: 'declined' });
  expect(queryOfFilter({})).toEqual({});
});

test('the view is part of the URL unless it is the list', () => {
  expect(addressOfFilter({ q: 'web' }, 'plans')).toBe('view=plans&q=web');
  expect(addressOfFilter({ q: 'web' }, 'list')).toBe('q=web');
});

test.each([
  ['a state that does not exist', { state: 'done' }],
  ['a code that is not a number', { code: '-1' }],
  ['a parameter given twice', { q: ['a', 'b'] }],
  ['a rollout that is not an ID', { rollout: 'mine' }],
  ['a text that is too long', { by: 'x'.repeat(201) }],
])('ignores %s', (_, query) => {
  expect(filterOfAddress(query)).toEqual({});
});
