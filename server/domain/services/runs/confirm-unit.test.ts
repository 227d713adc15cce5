import { describe, expect, test } from 'vitest';
import { newUnitRecord } from '#protocol/unit-record.ts';
import type { FailingHook } from '#server/domain/service-rules/stored.ts';
import { type ConfirmedRun, confirmed, failed, slotOfRun } from './confirm-unit.ts';
import type { UnitRow } from './find-unit.ts';
import { hookKind } from './hook-kind.ts';

const now = new Date('2026-11-01T12:00:00Z');
const { relations: _, failing: __, skipped: ___, ...record } = newUnitRecord('boot-1');
const unit: UnitRow = {
  ...{ id: 'u', modelId: 'm', serviceId: 's', name: 'blog/0', number: 0, vmId: 'v', life: 'alive', turn: 1 },
  ...{ formulaVersion: '1.0.0.0', settingsVersion: 3, runCounter: 0, record, failing: {}, skipped: [] },
  ...{ resolutions: [], agentSince: now, machineEnrolledAt: now, enteredAt: null, dyingAt: null, removedAt: null },
  ...{ releasedMachineAt: null, forced: false, createdAt: now, createdBy: 'Ada' },
};
const done = (hook: string, more: Partial<ConfirmedRun> = {}): ConfirmedRun => ({
  ...{ hook, relationId: null, formula: '1.0.0.0', settings: 3, run: null },
  ...more,
});
const failure = (more: Partial<Omit<FailingHook, 'since'>> = {}): Omit<FailingHook, 'since'> => ({
  ...{ hook: 'install', run: 'r1', failures: 1, outcome: 'failed' as const, exitCode: 1 },
  ...more,
});

test.each([
  ['install', 'install'],
  ['upgrade-formula', 'upgrade-formula'],
  ['db-relation-joined', 'joined'],
  ['my-db-relation-broken', 'broken'],
  ['update-status', null],
  ['-relation-joined', 'joined'],
])('the hook %s is of kind %s', (hook, kind) => {
  expect(hookKind(hook)).toBe(kind);
});

describe('a hook that ended with 0 is recorded', () => {
  test.each<[string, Partial<UnitRow['record']>]>([
    ['install', { formula: '1.0.0.0' }],
    ['upgrade-formula', { formula: '1.0.0.0' }],
    ['config-changed', { configured: { settings: 3, formula: '1.0.0.0', boot: 'boot-1' } }],
    ['start', { started: { boot: 'boot-1' } }],
    ['stop', { stopped: true }],
  ])('%s', (hook, changed) => {
    expect(confirmed(unit, done(hook), now).record).toEqual({ ...record, ...changed });
  });

  test('a hook of a relation changes nothing of the unit itself', () => {
    const after = confirmed(unit, done('db-relation-changed', { relationId: 3 }), now);
    expect(after).toEqual(unit);
  });

  test('the first start is when the unit entered its relations', () => {
    const entered = confirmed(unit, done('start'), now);
    expect(entered.enteredAt).toEqual(now);
    expect(confirmed(entered, done('start'), new Date(0)).enteredAt).toEqual(now);
  });

  test('config-changed confirms the version that was known when it began (EN-37)', () => {
    const after = confirmed(unit, done('config-changed', { settings: 2 }), now);
    expect(after.record.configured?.settings).toBe(2);
  });
});

describe('a failure', () => {
  test('is kept per relation, and ends with the success of a hook of the same relation', () => {
    const one = failed(unit, null, failure(), now);
    const both = failed(one, 3, failure({ hook: 'db-relation-changed', run: 'r2', remoteUnit: 'mysql/0' }), now);
    expect(Object.keys(both.failing)).toEqual(['3', slotOfRun(null)]);
    expect(Object.keys(confirmed(both, done('install'), now).failing)).toEqual(['3']);
    const after = confirmed(both, done('db-relation-departed', { relationId: 3 }), now);
    expect(Object.keys(after.failing)).toEqual(['unit']);
  });

  test('keeps the time of the first attempt for the same cause', () => {
    const later = new Date(now.getTime() + 60_000);
    const first = failed(unit, null, failure(), now);
    const second = failed(first, null, failure({ run: 'r2', failures: 2 }), later);
    expect(second.failing.unit).toMatchObject({ run: 'r2', failures: 2, since: now.toISOString() });
    const newCause = failed(second, null, failure({ run: 'r3', failures: 1 }), later);
    expect(newCause.failing.unit?.since).toBe(later.toISOString());
    const otherHook = failed(second, null, failure({ hook: 'start', run: 'r4', failures: 2 }), later);
    expect(otherHook.failing.unit?.since).toBe(later.toISOString());
  });

  test('EN-50 a decision is for one run, and is dropped when that run is over', () => {
    const resolution = { run: 'r1', how: 'retry' as const, at: now.toISOString(), by: 'Ada' };
    const decided = { ...failed(unit, null, failure(), now), resolutions: [resolution] };
    expect(confirmed(decided, done('install'), now).resolutions).toEqual([]);
    const newer = failed(decided, null, failure({ run: 'r2', failures: 2 }), now);
    expect(confirmed(newer, done('install'), now).resolutions).toEqual([resolution]);
  });
});

test('EN-49 a skipped hook counts as done, and is marked until the same hook succeeds', () => {
  const marked = confirmed(failed(unit, null, failure(), now), done('install', { skippedBy: 'Ada' }), now);
  const mark = { hook: 'install', formula: '1.0.0.0', at: now.toISOString(), by: 'Ada' };
  expect(marked).toMatchObject({ record: { formula: '1.0.0.0' }, failing: {}, skipped: [mark] });
  const twice = confirmed(marked, done('install', { skippedBy: 'Bob' }), now);
  expect(twice.skipped).toEqual([{ ...mark, by: 'Bob' }]);
  expect(confirmed(marked, done('start'), now).skipped).toEqual([mark]);
  expect(confirmed(marked, done('install'), now).skipped).toEqual([]);
});
