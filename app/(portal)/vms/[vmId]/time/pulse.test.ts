import { expect, test } from 'vitest';
import type { HeartbeatStretch } from './axis-events.ts';
import { readingsOf } from './pulse.ts';

const minute = 60_000;
const stretch = (state: HeartbeatStretch['state'], from: number, to: number | null): HeartbeatStretch => ({
  from: new Date(from * minute).toISOString(),
  to: to === null ? null : new Date(to * minute).toISOString(),
  state,
  cause: null,
  waitsFor: null,
  count: 1,
});

test.each<[string, HeartbeatStretch[], (string | null)[]]>([
  ['nothing recorded', [], [null, null, null, null]],
  ['always ready', [stretch('ready', 0, null)], ['healthy', 'healthy', 'healthy', 'healthy']],
  ['the first reading is young', [stretch('ready', 9, null)], [null, null, 'healthy', 'healthy']],
  [
    'one was missed',
    [stretch('ready', 0, 8.5), stretch('unresponsive', 8.5, 8.6), stretch('ready', 8.6, null)],
    ['healthy', 'healthy', 'unresponsive', 'healthy'],
  ],
  ['a handler that did not opt in has none', [stretch('none', 0, null)], [null, null, null, null]],
])('heartbeat readings: %s', (_, stretches, expected) => {
  expect(readingsOf(stretches, 10 * minute, minute, 4)).toEqual(expected);
});
