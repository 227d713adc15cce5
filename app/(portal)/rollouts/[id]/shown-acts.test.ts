import { expect, test } from 'vitest';
import type { ShownRollout } from '../rollout-data.ts';
import { actsOf, haltsOf } from './shown-acts.ts';

const none = { queued: 0, parked: 0, inFlight: 0, soaking: 0, succeeded: 0, failed: 0, reverted: 0 };
const counts = { members: 0, ...none, overtaken: 0, skipped: 0, gone: 0, unreached: 0 };
const ring = (name: string, part: object) => ({
  name,
  state: 'waiting',
  verdicts: [],
  approval: false,
  approvedBy: null,
  counts,
  ...part,
});
const rollout = (part: object) =>
  ({
    kind: 'rollout',
    change: { kind: 'set' },
    why: [],
    counts,
    rings: [],
    definition: {},
    mayApprove: false,
    approvalsNeeded: 0,
    revertedBy: null,
    ...part,
  }) as unknown as ShownRollout;
const names = (part: object) => {
  const { first, more } = actsOf(rollout(part));
  return { first: first.map(({ name }) => name), more: more.map(({ name }) => name) };
};

test('a halted rollout offers the revert of the halted ring first, and its resume names the halting gate', () => {
  const touched = { ...counts, members: 100, succeeded: 91, failed: 5 };
  const verdicts = [{ gate: 'errors', verdict: 'halt', code: 'errors_percent', params: {} }];
  const halted = {
    state: 'paused',
    counts: touched,
    rings: [
      ring('canary', { state: 'passed', counts: touched }),
      ring('tenth', { state: 'halted', counts: touched, verdicts }),
    ],
  };
  expect(names(halted).first).toEqual(['revertRing', 'resume', 'abort']);
  expect(actsOf(rollout(halted)).first[0]).toEqual({ name: 'revertRing', ring: 1 });
  expect(names(halted).more).toEqual(expect.arrayContaining(['revert', 'revertFailed', 'retryFailed']));
  expect(haltsOf(rollout(halted))).toEqual([{ ring: 1, gate: 'errors' }]);
});

test('a planned rollout starts only once it is approved, and plans again if VMs moved', () => {
  const planned = { state: 'planned', counts: { ...counts, members: 7 } };
  expect(names(planned)).toEqual({ first: ['start'], more: ['plan', 'delete'] });
  expect(names({ ...planned, approvalsNeeded: 1, mayApprove: true }).first).toEqual(['approve', 'reject']);
  expect(names({ ...planned, approvalsNeeded: 1 }).first).toEqual([]);
  const none = { ...planned, counts: { ...counts, members: 0 } };
  expect(names({ ...none, why: [{ code: 'plan_empty' }] })).toEqual({ first: ['plan'], more: ['delete'] });
  expect(names({ ...none, definition: { newcomers: 'include' } }).first).toEqual(['start']);
  expect(names({ ...planned, why: [{ code: 'plan_moved_on' }] }).first[0]).toBe('plan');
  const rejected = { ...planned, mayApprove: true, approvalsNeeded: 1, why: [{ code: 'plan_rejected' }] };
  expect(names(rejected)).toEqual({ first: ['plan'], more: ['delete'] });
});

test('a ring that needs an approval cannot be opened early without one', () => {
  const rings = [ring('canary', { state: 'open' }), ring('all', { approval: true })];
  expect(names({ state: 'running', rings }).more).not.toContain('advance');
  expect(names({ state: 'running', rings, mayApprove: true }).first).toEqual(['approveRing', 'rejectRing', 'pause']);
  expect(names({ state: 'running', rings: [ring('canary', { state: 'open' }), ring('all', {})] }).more).toContain(
    'advance',
  );
});

test('what never started can be deleted, and what ended cannot be stopped', () => {
  expect(names({ state: 'draft' })).toEqual({ first: ['plan'], more: ['delete'] });
  const ended = names({ state: 'finished', counts: { ...counts, members: 3, succeeded: 3 }, rings: [ring('all', {})] });
  expect(ended).toEqual({ first: ['revert'], more: [] });
});

test('a run that ended offers no revert, only to try again what failed', () => {
  const touched = { ...counts, members: 10, succeeded: 9, failed: 1 };
  const ended = { state: 'finished', counts: touched, rings: [ring('all', { state: 'passed', counts: touched })] };
  expect(names({ ...ended, change: { kind: 'run' } })).toEqual({ first: [], more: ['retryFailed'] });
});
