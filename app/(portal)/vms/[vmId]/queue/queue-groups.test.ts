import { expect, test } from 'vitest';
import type { QueueLine } from '../vm-data.ts';
import { limitUnit } from './limit-unit.ts';
import { nameInHash, queueRows, waitingGroupOf } from './queue-groups.ts';

const entry = (name: string, step: QueueLine['step'], reason: string | null = null): QueueLine => ({
  ...{ kind: 'extension', id: null, call: null, hook: null, validUntil: null },
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

const linesOf = (entries: QueueLine[]) => queueRows(entries).flatMap((row) => (row.kind === 'line' ? row.line : []));
const shown = (entries: QueueLine[]) =>
  linesOf(entries).map(({ name, steps, reason }) => [name, steps.map(({ command }) => command), reason]);

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
  const rows = queueRows([execution, { ...execution, id: 'e2' }, entry('Clean up', 'enable')]);
  const groups = rows.flatMap((row) => (row.kind === 'line' ? row.line : []));
  expect(groups.map((group) => [group.execution?.id, group.limitSeconds])).toEqual([
    ['e1', 300],
    ['e2', 300],
    [undefined, null],
  ]);
  expect(waitingGroupOf('Clean up', { now: [], next: rows, waiting: [] })).toBe(groups[2]);
});

test('each hook has its own row, also between commands of one extension', () => {
  const hook = { model: 'prod', hook: 'install', remoteUnit: null, nextAttemptBefore: null };
  const install = { ...entry('blog/0', null), kind: 'hook' as const, hook };
  const rows = queueRows([entry('a', 'install'), install, install, entry('a', 'enable')]);
  expect(rows.map((row) => (row.kind === 'hook' ? row.hook.unit : row.line.name))).toEqual([
    ...['a', 'blog/0', 'blog/0', 'a'],
  ]);
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
  const rows = {
    now: queueRows([entry('a', 'disable')]),
    next: queueRows([entry('b', 'enable'), entry('a', 'update')]),
    waiting: queueRows([entry('a', 'enable', 'Waits for b')]),
  };
  const commandOf = (given: Parameters<typeof waitingGroupOf>[1]) => waitingGroupOf('a', given)?.steps[0]?.command;
  expect(commandOf(rows)).toBe('enable');
  expect(commandOf({ ...rows, waiting: [] })).toBe('update');
  expect(commandOf({ ...rows, next: [], waiting: [] })).toBe('disable');
  expect(waitingGroupOf('c', rows)).toBeUndefined();
});

test.each([
  [90, 's', 90],
  [300, 'min', 5],
  [7200, 'h', 2],
  [0, 's', 0],
])('a timeout of %i seconds is shown exactly, in %s', (seconds, unit, n) => {
  expect(limitUnit(seconds)).toEqual({ unit, n });
});
