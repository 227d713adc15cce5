import { expect, test } from 'vitest';
import { waitsUntil } from './waits-until.ts';

const start = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const timeouts = { install: 60, update: 60, enable: 60, disable: 60, uninstall: 60 };

type Extension = Parameters<typeof waitsUntil>[0][number];
/** Delivered at the start; its deadline is 420 s later: install, enable, and the reading of its status. */
const extension = (name: string, more: Partial<Extension> = {}): Extension => ({
  name,
  goal: 'enabled',
  goalSequenceNumber: 1,
  dependsOn: [],
  timeouts,
  commands: null,
  changedAt: start,
  deliveredAt: start,
  statusSequence: null,
  concludedAt: null,
  ...more,
});
const concluded = (seconds: number): Partial<Extension> => ({ statusSequence: 1, concludedAt: after(seconds) });

test.each<[string, Extension[], number | null]>([
  ['none', [extension('x')], null],
  ['one that may take its time', [extension('x', { dependsOn: ['a'] }), extension('a')], 420],
  [
    'one that may take an hour',
    [extension('x', { dependsOn: ['a'] }), extension('a', { timeouts: { ...timeouts, install: 3600 } })],
    3960,
  ],
  ['one that concluded', [extension('x', { dependsOn: ['a'] }), extension('a', concluded(30))], 30],
  [
    'one that concluded for an earlier configuration',
    [extension('x', { dependsOn: ['a'] }), extension('a', { ...concluded(-900), goalSequenceNumber: 2 })],
    420,
  ],
  [
    'the slower of two',
    [extension('x', { dependsOn: ['a', 'b'] }), extension('a', concluded(30)), extension('b', concluded(200))],
    200,
  ],
  [
    'one that waits itself',
    [extension('x', { dependsOn: ['a'] }), extension('a', { dependsOn: ['b'] }), extension('b')],
    840,
  ],
  ['one that is not there', [extension('x', { dependsOn: ['gone'] })], null],
  ['one, but it is to be disabled', [extension('x', { dependsOn: ['a'], goal: 'disabled' }), extension('a')], null],
])('waits for %s', (_, extensions, seconds) => {
  expect(waitsUntil(extensions).get('x')).toEqual(seconds === null ? null : after(seconds));
});

test('a circle ends', () => {
  const circle = [extension('a', { dependsOn: ['b'] }), extension('b', { dependsOn: ['a'] })];
  expect(waitsUntil(circle).size).toBe(2);
});
