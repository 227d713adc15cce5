import { expect, test } from 'vitest';
import { addressOfFilter, filterOfAddress, queryOfFilter } from './rollouts-address.ts';

test('a filter survives the way through the address', () => {
  const filter = { state: 'paused', kind: 'bulk', handler: 'Acme.Lab.Probe', q: 'probe 1.1', needing: 'yes' } as const;
  const address = addressOfFilter(filter);
  expect(filterOfAddress(Object.fromEntries(new URLSearchParams(address)))).toEqual(filter);
});

test('invalid parts of an address are ignored', () => {
  expect(filterOfAddress({ state: 'lost', kind: ['bulk', 'revert'], q: 'x'.repeat(201), handler: '' })).toEqual({});
});

test('open rollouts come first, and half a handler is not sent', () => {
  expect(queryOfFilter({ handler: 'Acme' })).toEqual({ sort: 'open' });
  expect(queryOfFilter({ needing: 'yes' })).toEqual({ needing: true, sort: 'open' });
  expect(queryOfFilter({ state: 'running', handler: 'Acme.Probe' })).toEqual({
    ...{ state: ['running'], handler: 'Acme.Probe', sort: 'open' },
  });
});
