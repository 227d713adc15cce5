import { expect, test } from 'vitest';
import type { HandlerReport } from '#protocol/index.ts';
import { noPauses } from '#server/domain/verdicts/index.ts';
import { waitsUntil } from './waits-until.ts';

const start = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const timeouts = { install: 60, update: 60, enable: 60, disable: 60, uninstall: 60 };

type Extension = Parameters<typeof waitsUntil>[0][number];
/**
 * Returns an extension delivered at the start. Its deadline is 420 s later, which allows for `install`, `enable` and
 * reading the status.
 */
const extension = (name: string, more: Partial<Extension> = {}): Extension => ({
  name,
  goal: 'enabled',
  goalSequenceNumber: 1,
  dependsOn: [],
  timeouts,
  commands: null,
  changedAt: start,
  deliveredAt: start,
  pauses: noPauses,
  statusSequence: null,
  concludedAt: null,
  handlerState: null,
  handlerAt: null,
  ...more,
});
/** Returns what the agent reported about the extension's handler, this many seconds after the start. */
const factsOf = (
  seconds: number,
  state: HandlerReport['state'],
  more: Partial<HandlerReport> = {},
): Partial<Extension> => ({
  handlerAt: after(seconds),
  handlerState: {
    sequenceNumber: 1,
    state,
    timedOut: false,
    command: 'install',
    exitCode: undefined,
    attempt: 1,
    ...more,
  },
});
const slow = { timeouts: { ...timeouts, install: 3600 } };
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
  [
    'its turn, while another runs',
    [extension('x'), extension('a', { ...slow, ...factsOf(10, 'installing') }), extension('b', factsOf(5, 'failed'))],
    3610,
  ],
  ['its turn, which has come', [extension('x'), extension('a', factsOf(3000, 'enabled', { command: 'enable' }))], 3000],
  [
    'its turn, and has begun since',
    [
      extension('x', factsOf(3020, 'enabled', { command: 'enable' })),
      extension('a', factsOf(3000, 'enabled', { command: 'enable' })),
      extension('b', { ...slow, ...factsOf(3030, 'installing') }),
    ],
    3000,
  ],
  [
    'nothing that is only downloaded',
    [extension('x'), extension('a', factsOf(30, 'notInstalled', { command: undefined }))],
    null,
  ],
  [
    'nothing that was asked for too late',
    [extension('x'), extension('a', { ...factsOf(500, 'enabling'), deliveredAt: after(421) })],
    null,
  ],
  [
    'nothing that is run once more',
    [extension('x'), extension('a', factsOf(9000, 'installing', { attempt: 2 }))],
    null,
  ],
  [
    'one that waits for its turn',
    [extension('x', { dependsOn: ['a'] }), extension('a'), extension('b', { ...slow, ...factsOf(10, 'installing') })],
    4030,
  ],
  [
    'its turn, but it is concluded',
    [extension('x', concluded(30)), extension('a', { ...slow, ...factsOf(40, 'installing') })],
    null,
  ],
  ['one, but it is to be disabled', [extension('x', { dependsOn: ['a'], goal: 'disabled' }), extension('a')], null],
])('waits for %s', (_, extensions, seconds) => {
  expect(waitsUntil(extensions).get('x')).toEqual(seconds === null ? null : after(seconds));
});

test('a dependency cycle does not loop forever', () => {
  const cycle = [extension('a', { dependsOn: ['b'] }), extension('b', { dependsOn: ['a'] })];
  expect(waitsUntil(cycle).size).toBe(2);
});
