import { expect, test } from 'vitest';
import { changesBetween, readable, revertTarget } from './goal-state-changes.ts';
import type { PastExtension, PastGoalState } from './vm-data.ts';

const timeouts = { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 };

function extension(name: string, more: Partial<PastExtension> = {}): PastExtension {
  return {
    name,
    handler: 'Acme.Lab.Probe',
    requestedVersion: '1',
    version: '1.0.0',
    state: 'enabled',
    autoUpgradeMinorVersion: false,
    dependsOn: [],
    timeouts,
    publicSettings: {},
    hasProtectedSettings: false,
    sequenceNumber: 1,
    ...more,
  };
}

function state(incarnation: number, extensions: PastExtension[]): PastGoalState {
  const publishedAt = new Date(incarnation * 1000).toISOString();
  return { incarnation, etag: '', publishedAt, publishedBy: 'Ada', cause: { action: 'extension.set' }, extensions };
}

const keys = (before: PastExtension[], after: PastExtension[]) =>
  changesBetween(before, after).map(({ key, values }) => `${values.name} ${key}`);

test.each<[string, Partial<PastExtension>, string[]]>([
  ['nothing', {}, []],
  ['a version', { version: '1.1.0', sequenceNumber: 2 }, ['x change.version']],
  ['settings', { publicSettings: { a: 1 }, sequenceNumber: 2 }, ['x change.settings']],
  ['secrets that cannot be read', { sequenceNumber: 2 }, ['x change.secrets']],
  ['secrets that came', { hasProtectedSettings: true, sequenceNumber: 2 }, ['x change.secrets']],
  ['disabled', { state: 'disabled', sequenceNumber: 2 }, ['x change.disabled']],
  ['uninstalled', { state: 'uninstall', dependsOn: [], sequenceNumber: 2 }, ['x change.uninstall']],
  ['dependencies', { dependsOn: ['y'] }, ['x change.dependencies']],
  ['timeouts', { timeouts: { ...timeouts, enable: 9 } }, ['x change.timeouts']],
  ['the way of upgrades', { autoUpgradeMinorVersion: true }, ['x change.policy']],
])('what changed: %s', (_, more, expected) => {
  expect(keys([extension('x')], [extension('x', more)])).toEqual(expected);
});

test('what came and what went', () => {
  expect(keys([extension('x')], [extension('y')])).toEqual(['y change.added', 'x change.removed']);
});

test('back to the goal state before the failing settings; to none that had it not', () => {
  const good = extension('x');
  const bad = extension('x', { sequenceNumber: 2 });
  const history = [state(5, [bad, extension('z')]), state(4, [bad]), state(3, [good]), state(2, [good]), state(1, [])];
  expect(revertTarget(history, 'x')).toBe(3);
  expect(revertTarget([state(2, [good]), state(1, [])], 'x')).toBeNull();
  expect(revertTarget([state(2, [bad]), state(1, [extension('x', { state: 'disabled' })])], 'x')).toBeNull();
  expect(revertTarget(history, 'unknown')).toBeNull();
  expect(revertTarget([], 'x')).toBeNull();
});

test('a goal state to read has its extensions by name', () => {
  expect(JSON.parse(readable([extension('x')]))).toMatchObject({ x: { version: '1.0.0' } });
});
