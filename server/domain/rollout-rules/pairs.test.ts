import { expect, test } from 'vitest';
import { judgeControl, pairResult } from './pairs.ts';
import { facts, health, later, start, stepRules } from './testing/facts.ts';

test.each([
  ['inFlight', false, 'open', null],
  ['soaking', false, 'open', null],
  ['succeeded', false, 'open', 'neither'],
  ['failed', true, 'open', 'changed-first'],
  ['retrying', true, 'open', 'changed-first'],
  ['reverting', true, 'open', 'changed-first'],
  ['soaking', false, 'failed', 'control-first'],
  ['failed', true, 'failed', 'both'],
  ['failed', true, 'void', 'void'],
  ['overtaken', false, 'open', 'void'],
  ['gone', false, 'open', 'void'],
  ['recalled', false, 'open', 'void'],
] as const)(
  'RO-24 a %s step (failed: %s) beside a control that is %s resolves as %s',
  (state, changedFailed, control, result) => {
    expect(pairResult(state, { changedFailed, control })).toBe(result);
  },
);

test('RO-24 a control is judged as a step is, at the sequence number that it has', () => {
  const judge = (of: Parameters<typeof facts>[0], seconds: number, changes: Parameters<typeof facts>[1] = {}) =>
    judgeControl(facts(of, changes), stepRules(), start, later(seconds)).result;
  expect(judge(health('healthy', { since: later(-900) }), 9_000)).toBe('open');
  expect(judge(health('failed'), 100)).toBe('failed');
  expect(judge(health('degraded', { since: later(100) }), 699)).toBe('open');
  expect(judge(health('degraded', { since: later(100) }), 700)).toBe('failed');
  expect(judge(health('healthy'), 100, { agent: 'unresponsive' })).toBe('failed');
  expect(judge(health('healthy'), 100, { exists: false })).toBe('void');
});
