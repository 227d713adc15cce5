import { expect, test } from 'vitest';
import { addressOfSteps, queryOfSteps, stepsFilterOf } from './steps-address.ts';

test('the filter of the VMs survives the way through the address', () => {
  const filter = { ring: 12, state: 'failed', cause: 'exit' } as const;
  expect(stepsFilterOf(Object.fromEntries(new URLSearchParams(addressOfSteps(filter))))).toEqual(filter);
  expect(queryOfSteps(filter)).toEqual({ ring: 12, state: ['failed'], cause: 'exit' });
});

test('invalid parts of an address are ignored', () => {
  expect(stepsFilterOf({ ring: '-1', state: 'lost', cause: ['a', 'b'] })).toEqual({});
});
