import { describe, expect, test } from 'vitest';
import { openStates, rolloutStates, stepStates } from '#server/domain/rollout-rules/words.ts';
import { causeOf, changes, isUndecided, type Membership } from './memberships.ts';

const given = (values: Partial<Omit<Membership, 'rollout'>> & { rollout?: Partial<Membership['rollout']> }) => ({
  ring: { index: 1, name: 'tenth', size: 379 },
  ...{ place: 123, state: 'inFlight' as const, cause: null, waitsFor: null },
  ...{ incarnation: 7, publishedAt: null, decidedAt: null },
  ...values,
  rollout: {
    ...{ id: 'r1', name: 'probe 1.1', kind: 'rollout' as const, state: 'running' as const },
    ...{ handler: 'Acme.Lab.Probe', extension: null, runbook: null, createdAt: '2026-03-01T10:00:00.000Z' },
    ...values.rollout,
  },
});
const probe = { handler: 'Acme.Lab.Probe', name: 'probe' };

describe('a membership is undecided', () => {
  const undecided = ['queued', 'recalled', 'parked', 'inFlight', 'soaking', 'retrying', 'reverting'];

  test.each(['queued', ...stepStates] as const)('or not, if its step is %s', (state) => {
    expect(isUndecided(given({ state }))).toBe(undecided.includes(state));
  });

  test.each(rolloutStates)('or not, if its rollout is %s', (state) => {
    const hasEnded = state === 'aborted' || state === 'finished';
    expect(isUndecided(given({ rollout: { state } }))).toBe(!hasEnded);
    if ((openStates as readonly string[]).includes(state)) expect(hasEnded).toBe(false);
  });
});

test('a rollout changes every extension of its handler, or the one that it names', () => {
  expect(changes(given({}), probe)).toBe(true);
  expect(changes(given({}), { ...probe, handler: 'Acme.Lab.Share' })).toBe(false);
  expect(changes(given({ rollout: { extension: 'probe' } }), probe)).toBe(true);
  expect(changes(given({ rollout: { extension: 'probe-2' } }), probe)).toBe(false);
  expect(changes(given({ rollout: { extension: 'probe-2' } }), { ...probe, name: null })).toBe(true);
  expect(changes(given({ rollout: { handler: null } }), probe)).toBe(true);
  expect(changes(given({ rollout: { handler: null, runbook: 'greet' } }), probe)).toBe(false);
});

test('the state of an extension belongs to an open step, or to the failed step of the current goal state', () => {
  const open = given({ incarnation: 5 });
  expect(causeOf([given({ state: 'queued', incarnation: null }), open], probe, 7)).toBe(open);
  const failed = given({ state: 'failed', incarnation: 7 });
  expect(causeOf([failed], probe, 7)).toBe(failed);
  expect(causeOf([failed], probe, 8)).toBeUndefined();
  expect(causeOf([given({ state: 'succeeded' })], probe, 7)).toBeUndefined();
  expect(causeOf([open], { ...probe, handler: 'Acme.Lab.Share' }, 7)).toBeUndefined();
});
