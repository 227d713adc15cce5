import { expect, test } from 'vitest';
import { addressOfSteps, queryOfSteps, stepsFilterOf } from './steps-address.ts';

const group = '0123456789abcdef0123456789abcdef';

test('the filter of the VMs survives the way through the address', () => {
  const filter = { ring: 12, state: 'failed', group } as const;
  expect(stepsFilterOf(Object.fromEntries(new URLSearchParams(addressOfSteps(filter))))).toEqual(filter);
});

test('a state lists the steps that the count of the same name counts', () => {
  expect(queryOfSteps({ ring: 12, state: 'failed', group })).toEqual({ ring: 12, state: ['failed', 'stuck'], group });
  expect(queryOfSteps({ state: 'inFlight' })).toEqual({ state: ['inFlight', 'retrying', 'reverting'] });
});

test('invalid parts of an address are ignored', () => {
  expect(stepsFilterOf({ ring: '-1', state: 'lost', group: ['a', 'b'] })).toEqual({});
  expect(stepsFilterOf({ group: 'exit' })).toEqual({});
});
