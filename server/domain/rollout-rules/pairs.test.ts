import { describe, expect, test } from 'vitest';
import { judgeControl, pairResult } from './pairs.ts';
import type { StepFacts, StepRules } from './step-facts.ts';
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

test.each([
  ['that is being put back fails with its control', 'reverting', false, 'failed', 'both'],
  ['that was put back fails alone', 'reverted', false, 'open', 'changed-first'],
  ['that is stuck fails with its control', 'stuck', false, 'failed', 'both'],
  ['that failed before it was overtaken still failed', 'overtaken', true, 'open', 'changed-first'],
  ['that was overtaken tells nothing, unless its control failed', 'overtaken', false, 'failed', 'control-first'],
  ['that is healthy beside a control that is gone tells nothing', 'succeeded', false, 'void', 'void'],
] as const)('RO-24 a step %s', (_, state, changedFailed, control, result) => {
  expect(pairResult(state, { changedFailed, control })).toBe(result);
});

describe('RO-24 a control', () => {
  const judge = (given: StepFacts, seconds: number, rules: Partial<StepRules> = {}) =>
    judgeControl(given, stepRules(rules), start, later(seconds));

  test('fails without another attempt, even if the rollout retries or ends', () => {
    const failed = facts(health('failed', { cause: 'exit' }));
    for (const rules of [{ retry: { times: 3, afterSeconds: 60, causes: ['exit'] } }, { stage: 'aborting' as const }])
      expect(judge(failed, 100, rules)).toEqual({ result: 'failed', dueAt: null });
    expect(judge(failed, 100, { onStepFailure: 'revert' }).result).toBe('failed');
  });

  test('never succeeds, so that it is watched for as long as the changed VM', () => {
    const healthy = facts(health('healthy', { since: later(-9_000) }));
    for (const stage of ['running', 'paused'] as const)
      expect(judge(healthy, 30 * 86_400, { stage, soakSeconds: 0 }).result).toBe('open');
  });

  test('counts for nothing once it or its extension is deleted', () => {
    expect(judge(facts(health('failed'), { decommissioning: true }), 100).result).toBe('void');
    const removed = { name: 'probe', declared: null, health: null };
    expect(judge(facts(null, { extensions: [removed] }), 100).result).toBe('void');
  });

  test('has time to settle from when it stopped being healthy, and is judged again then', () => {
    const degraded = facts(health('degraded', { since: later(500) }));
    expect(judge(degraded, 600)).toEqual({ result: 'open', dueAt: later(1_100) });
    expect(judge(degraded, 600, { settleSeconds: 100 }).result).toBe('failed');
  });

  test('has time to settle from when the first of its extensions stopped being healthy, whatever their order', () => {
    const declared = { sequenceNumber: 2, state: 'enabled' as const, version: '1.1.0.0' };
    const extensions = [700, 500].map((seconds, n) => ({
      name: `probe-${n}`,
      declared,
      health: health('degraded', { since: later(seconds) }),
    }));
    for (const order of [extensions, extensions.toReversed()]) {
      expect(judge(facts(null, { extensions: order }), 1_099).result).toBe('open');
      expect(judge(facts(null, { extensions: order }), 1_100).result).toBe('failed');
    }
  });

  test('is watched for the same time as the changed VM: nothing before the pair counts', () => {
    const degraded = facts(health('degraded', { since: later(-500) }));
    expect(judge(degraded, 599)).toEqual({ result: 'open', dueAt: later(600) });
    expect(judge(degraded, 600).result).toBe('failed');
  });
});
