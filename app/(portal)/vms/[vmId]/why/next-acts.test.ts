import { expect, test } from 'vitest';
import type { ShownVmUnit } from '../units/hook-entries.ts';
import { isAboutUnit } from './is-about-unit.ts';
import { nextActs } from './next-acts.ts';

const failure = (hook: string, run: string, relation: { id: number } | null = null) => ({
  ...{ hook, run, relation, remoteUnit: relation && 'store/0', failures: 2, resolution: null },
});
const due = (hook: string, relation: number | null = null) => ({
  ...{ hook, relation, remoteUnit: relation && 'store/0', hasFile: true },
});
const given = (more: object): ShownVmUnit =>
  ({
    ...{ unit: 'blog/0', model: 'prod', stage: 'started', health: 'failed', cause: 'exit', hook: null },
    ...{ failing: [], skipped: [], due: [], running: null, agentSince: '2026-01-01T10:00:00Z' },
    ...more,
  }) as unknown as ShownVmUnit;

test('a hook that fails can be decided on, the hook of the unit first', () => {
  const failing = [failure('db-relation-changed', 'r2', { id: 3 }), failure('config-changed', 'r1')];
  const acts = nextActs(given({ failing, due: [due('config-changed'), due('db-relation-changed', 3)] }));
  expect(acts).toMatchObject({ kind: 'failing', run: 'r1', isDue: true, failure: { hook: 'config-changed' } });
});

test('a hook that runs again, or that is no longer due, cannot be decided on, but its output is shown', () => {
  const failing = [failure('install', 'r1')];
  const running = { run: 'r2', hook: 'install', remoteUnit: null, begunAt: '', timeoutSeconds: 300 };
  expect(nextActs(given({ failing, due: [due('install')], running }))).toMatchObject({ run: 'r1', isDue: false });
  expect(nextActs(given({ failing }))).toMatchObject({ kind: 'failing', isDue: false });
});

test.each([
  ['withheld settings', { cause: 'release' }, { kind: 'release', run: null }],
  ['a missing relation', { cause: 'relation', hook: 'db' }, { kind: 'relation', run: null }],
  ['a hook that waits', { cause: 'waiting', due: [due('start')] }, { kind: 'other', run: null }],
  [
    'a hook that runs',
    { cause: null, running: { run: 'r7', hook: 'start', remoteUnit: null } },
    { kind: 'other', run: 'r7' },
  ],
])('the acts for %s', (_, more, acts) => {
  expect(nextActs(given(more))).toEqual(acts);
});

test.each([
  ['blog/0', true],
  ['blog', false],
  ['my-extension', false],
])('%s is a unit: %s', (extension, isUnit) => {
  expect(isAboutUnit({ extension })).toBe(isUnit);
});
