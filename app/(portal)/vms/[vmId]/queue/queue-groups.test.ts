import { expect, test } from 'vitest';
import type { QueueLine } from '../vm-data.ts';
import { limitUnit } from './limit-unit.ts';
import { nameInHash, queueGroups, waitingGroupOf } from './queue-groups.ts';

const entry = (name: string, step: QueueLine['step'], reason: string | null = null): QueueLine => ({
  ...{ kind: 'extension', id: null, call: null, validUntil: null },
  name,
  handler: 'Lab.Probe',
  step,
  version: '1.0',
  turn: 4,
  askedBy: 'Ada',
  askedAt: '2026-01-01T00:00:00.000Z',
  since: null,
  limitSeconds: 300,
  reason: reason === null ? null : { code: 'dependency', params: {}, text: reason },
});

const shown = (entries: QueueLine[]) =>
  queueGroups(entries).map(({ name, steps, reason }) => [name, steps.map(({ command }) => command), reason]);

test.each<[string, QueueLine[], unknown[]]>([
  ['nothing', [], []],
  ['commands of one extension', [entry('a', 'install'), entry('a', 'enable')], [['a', ['install', 'enable'], null]]],
  [
    'the order stays, and an extension can appear twice',
    [entry('a', 'disable'), entry('b', 'disable'), entry('a', 'enable')],
    [
      ['a', ['disable'], null],
      ['b', ['disable'], null],
      ['a', ['enable'], null],
    ],
  ],
  [
    'different reasons are not joined',
    [entry('a', 'install'), entry('a', 'enable', 'Waiting for b')],
    [
      ['a', ['install'], null],
      ['a', ['enable'], 'Waiting for b'],
    ],
  ],
  ['an unknown command', [entry('a', null, 'Waiting for secrets')], [['a', [], 'Waiting for secrets']]],
])('joins entries: %s', (_, entries, expected) => {
  expect(shown(entries)).toEqual(expected);
});

test('each execution has its own row', () => {
  const execution = { ...entry('Clean up', null), kind: 'execution' as const, id: 'e1', version: '1.2.0' };
  const groups = queueGroups([execution, { ...execution, id: 'e2' }, entry('Clean up', 'enable')]);
  expect(groups.map((group) => [group.execution?.id, group.limitSeconds])).toEqual([
    ['e1', 300],
    ['e2', 300],
    [undefined, null],
  ]);
  expect(waitingGroupOf('Clean up', { now: [], next: groups, waiting: [] })).toBe(groups[2]);
});

test.each([
  ['#queue-probe', 'probe'],
  ['#queue-', null],
  ['#output-probe', null],
  ['', null],
])('the address %j leads to %j', (hash, name) => {
  expect(nameInHash(hash)).toBe(name);
});

test('an address leads to the entry that waits, if the extension has several', () => {
  const groups = {
    now: queueGroups([entry('a', 'disable')]),
    next: queueGroups([entry('b', 'enable'), entry('a', 'update')]),
    waiting: queueGroups([entry('a', 'enable', 'Waits for b')]),
  };
  expect(waitingGroupOf('a', groups)).toBe(groups.waiting[0]);
  expect(waitingGroupOf('a', { ...groups, waiting: [] })).toBe(groups.next[1]);
  expect(waitingGroupOf('a', { ...groups, next: [], waiting: [] })).toBe(groups.now[0]);
  expect(waitingGroupOf('c', groups)).toBeUndefined();
});

test.each([
  [90, 's', 90],
  [300, 'min', 5],
  [7200, 'h', 2],
  [0, 's', 0],
])('a timeout of %i seconds is shown exactly, in %s', (seconds, unit, n) => {
  expect(limitUnit(seconds)).toEqual({ unit, n });
});
