import { describe, expect, it } from 'vitest';
import type { ShownDue, ShownFailure, ShownRun } from './unit-data.ts';
import { type WhyFacts, whyOf } from './why-unit.ts';

const now = '2026-11-29T12:00:00.000Z';
const failure = (hook: string, failures: number, relation: ShownFailure['relation'] = null): ShownFailure => ({
  ...{ hook, run: hook, failures, outcome: 'failed', exitCode: 1, since: now, relation, remoteUnit: null },
  ...{ failedAt: now, nextAttemptBefore: now, resolution: null },
});
const start = { hook: 'start' } as ShownDue;
const mark = { hook: 'install', version: '1.0.0.0', at: now, by: 'Ada' };
const db = { id: 3, number: 1, name: 'db' };

const healthy: WhyFacts = {
  unit: { stage: 'started', health: 'healthy', cause: null, hook: null, failing: [], skipped: [], agentSince: now },
  machine: { agent: { status: 'ready' as never, lastSeenAt: now }, agentKind: 'reference' as never },
  ...{ due: [], running: undefined },
};
const given = (more: Partial<WhyFacts['unit']>, rest: Partial<WhyFacts> = {}): WhyFacts => ({
  ...healthy,
  ...rest,
  unit: { ...healthy.unit, ...more },
});
const agent = (status: string, agentKind: string | null = 'reference') =>
  ({ agent: { status, lastSeenAt: status === 'never' ? null : now }, agentKind }) as WhyFacts['machine'];

describe('EN-81 why a unit is not done', () => {
  it.each<[string, WhyFacts, object | null]>([
    ['a healthy unit', healthy, null],
    ['a removed unit', given({ stage: 'removed', failing: [failure('stop', 3)] }), null],
    ['a machine without an agent', given({}, { machine: agent('never', null) }), { kind: 'enroll' }],
    ['an agent that never called', given({}, { machine: agent('never') }), { kind: 'unheard' }],
    [
      'a silent agent, although a hook fails',
      given({ failing: [failure('start', 1)] }, { machine: agent('unresponsive') }),
      { kind: 'silent', since: now },
    ],
    ['an agent that does not look at units', given({ agentSince: null }, { due: [start] }), { kind: 'noUnits' }],
    [
      'a hook that fails',
      given({ failing: [failure('start', 1)] }, { running: {} as ShownRun }),
      { kind: 'failing', failure: { hook: 'start' } },
    ],
    [
      'a hook of the unit before one of a relation',
      given({ failing: [failure('db-relation-joined', 9, db), failure('start', 1)] }),
      { failure: { hook: 'start' } },
    ],
    [
      'of two relations the one that failed more often',
      given({ failing: [failure('a-relation-joined', 1, db), failure('b-relation-joined', 2, db)] }),
      { failure: { hook: 'b-relation-joined' } },
    ],
    [
      'a hook that runs',
      given({}, { running: { hook: 'start' } as ShownRun, due: [start] }),
      { kind: 'running', run: { hook: 'start' } },
    ],
    ['withheld settings', given({ cause: 'release' }, { due: [start] }), { kind: 'release' }],
    ['a late hook', given({ cause: 'late' }, { due: [start] }), { kind: 'late', due: start }],
    ['a hook that is due', given({ skipped: [mark] }, { due: [start] }), { kind: 'waiting', due: start }],
    ['a skipped hook', given({ skipped: [mark] }), { kind: 'skipped', mark }],
    ['a missing relation', given({ cause: 'relation', hook: 'db' }), { kind: 'relation', name: 'db' }],
    ['a machine that is loading', given({ agentSince: null }, { machine: undefined }), null],
  ])('%s', (_, facts, expected) => {
    if (expected === null) expect(whyOf(facts)).toBeNull();
    else expect(whyOf(facts)).toMatchObject(expected);
  });
});
