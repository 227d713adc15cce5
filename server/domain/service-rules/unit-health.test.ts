import { expect, test } from 'vitest';
import type { FailingHook } from './stored.ts';
import { evaluateUnit, overdueAt, type UnitEvidence, worstUnit } from './unit-health.ts';

const now = new Date('2026-11-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const quiet: UnitEvidence = {
  ...{ agent: 'ready', isLeaving: false, running: null, failing: [], due: null, skipped: [], missingRelation: null },
  needsRelease: false,
};
const failing = (more: Partial<FailingHook> = {}): FailingHook => ({
  ...{ hook: 'install', run: 'r', failures: 1, outcome: 'failed', exitCode: 3, since: ago(60).toISOString() },
  ...more,
});
const skipped = [{ hook: 'start', formula: '1.0.0.0', at: ago(60).toISOString(), by: 'Ada' }];
const runningFor = (seconds: number) => ({ hook: 'start', begunAt: ago(seconds), timeoutSeconds: 300 });

test.each<[string, Partial<UnitEvidence>, string, string | null, string | null]>([
  ['whose agent was never seen', { agent: 'never', failing: [failing({ failures: 9 })] }, 'unknown', null, null],
  ['whose agent is silent', { agent: 'unresponsive', running: runningFor(999) }, 'unresponsive', 'silent', null],
  ['with an overdue run', { running: runningFor(361) }, 'failed', 'deadline', 'start'],
  ['with a run that is in time', { running: runningFor(360) }, 'progressing', null, null],
  ['with one failed attempt', { failing: [failing()] }, 'progressing', 'retry', 'install'],
  ['with two failed attempts', { failing: [failing({ failures: 2 })] }, 'progressing', 'retry', 'install'],
  ['with three failed attempts', { failing: [failing({ failures: 3 })] }, 'failed', 'exit', 'install'],
  ['that timed out once', { failing: [failing({ outcome: 'timed-out' })] }, 'failed', 'timeout', 'install'],
  [
    'whose changes were rejected three times',
    { failing: [failing({ outcome: 'refused', exitCode: 0, failures: 3 })] },
    ...(['failed', 'command', 'install'] as const),
  ],
  [
    'with a failed relation beside a retried one',
    { failing: [failing(), failing({ hook: 'db-relation-changed', failures: 4 })] },
    ...(['failed', 'exit', 'db-relation-changed'] as const),
  ],
  ['that waits for a release', { needsRelease: true, skipped, missingRelation: 'db' }, 'degraded', 'release', null],
  ['whose hook is late', { due: { hook: 'start', lateAt: ago(1) } }, 'degraded', 'late', 'start'],
  ['with a skipped hook', { skipped, due: { hook: 'x', lateAt: null } }, 'degraded', 'skipped', 'start'],
  ['that lacks a relation', { missingRelation: 'db' }, 'degraded', 'relation', 'db'],
  ['whose hook is due', { due: { hook: 'start', lateAt: ago(-9) } }, 'progressing', 'waiting', null],
  ['that leaves', { isLeaving: true }, 'progressing', 'waiting', null],
  ['with nothing to do', {}, 'healthy', null, null],
])('a unit %s', (_, facts, health, cause, command) => {
  expect(evaluateUnit({ ...quiet, ...facts }, now)).toMatchObject({ health, cause, command });
});

test('a unit is evaluated again when its run is overdue or its hook is late', () => {
  const running = runningFor(10);
  expect(evaluateUnit({ ...quiet, running }, now)).toMatchObject({
    deadlineAt: overdueAt(running),
    changesAt: new Date(overdueAt(running).getTime() + 1),
  });
  const due = { hook: 'start', lateAt: ago(-5) };
  expect(evaluateUnit({ ...quiet, due }, now).changesAt).toEqual(new Date(ago(-5).getTime() + 1));
  expect(evaluateUnit({ ...quiet, running: runningFor(999) }, now).changesAt).toBeNull();
});

test('the worst unit is the first of those that are equally bad', () => {
  const units = [
    { name: 'a/0', health: 'healthy' as const },
    { name: 'a/1', health: 'failed' as const },
    { name: 'a/2', health: 'failed' as const },
  ];
  expect(worstUnit(units)?.name).toBe('a/1');
  expect(worstUnit([])).toBeNull();
});
