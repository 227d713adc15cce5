import { expect, test } from 'vitest';
import { differsNowhere } from './differs-nowhere.ts';

const call = { state: 'succeeded', exitCode: 0 } as const;
const same = {
  before: { state: 'succeeded', errorCode: 0 },
  after: { state: 'succeeded', errorCode: 0 },
  results: { before: '{"ID":"1","Body":{"a":1,"b":2}}', after: '{"ID":"2","Body":{"b":2,"a":1}}' },
  plans: null,
  calls: [{ before: call, after: call }],
} as const;

test('two executions differ nowhere if only their IDs and the order of keys differ', () => {
  expect(differsNowhere(same)).toBe(true);
});

test.each([
  ['plan', { plans: { before: '{}', after: '{"Name":"x"}' } }],
  ['outcome', { after: { state: 'failed', errorCode: 1 } } as const],
  ['result', { results: { before: null, after: '{"Body":1}' } }],
  ['call that only one made', { calls: [{ before: call, after: null }] }],
  ['call with another exit code', { calls: [{ before: call, after: { state: 'failed', exitCode: 3 } }] } as const],
])('a different %s is a difference', (_, difference) => {
  expect(differsNowhere({ ...same, ...difference })).toBe(false);
});
