import { describe, expect, test } from 'vitest';
import type { Timeline } from '../vm-data.ts';
import {
  drawnOf,
  drawnVerdict,
  eventsOf,
  type HealthStretch,
  type HeartbeatStretch,
  initialsOf,
  laneOf,
  nextEvent,
  ticksOf,
} from './axis-events.ts';

const clock = (minute: number) => `2026-01-01T10:${String(minute).padStart(2, '0')}:00.000Z`;
const at = (minute: number) => Date.parse(clock(minute));
const rest = { cause: null, waitsFor: null, count: 1 };
const health = (state: HealthStretch['state'], from: number, to: number | null): HealthStretch => ({
  ...rest,
  state,
  from: clock(from),
  to: to === null ? null : clock(to),
});
const heartbeat = (state: HeartbeatStretch['state'], from: number, to: number | null): HeartbeatStretch => ({
  ...rest,
  state,
  from: clock(from),
  to: to === null ? null : clock(to),
});
const moment = (minute: number) => ({ at: clock(minute), until: clock(minute), count: 1 });

const timeline: Timeline = {
  from: clock(0),
  to: clock(40),
  readAt: clock(30),
  configuration: [{ ...moment(10), incarnation: 7, by: 'Ada', cause: { action: 'extension.set', extension: 'b' } }],
  acts: [
    { ...moment(10), who: 'Ada Brandt', kind: 'user', action: 'extension.set', target: 'b', declared: 'settings' },
  ],
  executions: [
    {
      ...{ executionId: 'x', name: 'Clean up', version: '1.0.0', state: 'failed', count: 1 },
      ...{ from: clock(13), to: clock(16) },
    },
  ],
  hooks: [
    {
      ...{ run: 'r', model: 'prod', unit: 'blog/0', hook: 'install', outcome: 'failed', count: 1 },
      ...{ from: clock(14), to: clock(15) },
    },
  ],
  lanes: [
    { extension: 'a', health: [health('healthy', 0, null)], heartbeat: [heartbeat('ready', 0, null)] },
    {
      extension: 'b',
      health: [health('healthy', 0, 11), health('failed', 11, 20), health('healthy', 20, null)],
      heartbeat: [heartbeat('ready', 0, 12), heartbeat('unresponsive', 12, 14), heartbeat('ready', 14, null)],
    },
  ],
  merged: 0,
  healthSince: null,
};
const lanes = { names: ['b', 'a'], hasHooks: false };
const eventsWithin = (from: number, to: number) =>
  eventsOf(timeline, lanes, at(from), at(to)).map((event) => `${event.kind} ${laneOf(event, lanes)}`);

test.each([
  ['healthy', null, 'healthy'],
  ['progressing', null, 'progressing'],
  ['progressing', 'waiting', 'waiting'],
  ['degraded', 'status', 'warning'],
  ['degraded', 'stale', 'stale'],
  ['failed', 'stale', 'failed'],
  ['unresponsive', 'silent', 'unresponsive'],
  ['unknown', 'silent', 'unknown'],
  ['disabled', null, 'disabled'],
  [null, null, 'unrecorded'],
] as const)('%s because of %s is drawn as %s', (state, cause, drawn) => {
  expect(drawnOf({ state, cause })).toBe(drawn);
});

test.each([
  ['ready', 'healthy'],
  ['notready', 'warning'],
  ['unknown', 'unknown'],
  ['unresponsive', 'unresponsive'],
  ['none', null],
  [null, null],
] as const)('the verdict %s is drawn as %s', (state, drawn) => {
  expect(drawnVerdict(state)).toBe(drawn);
});

describe('events of an axis', () => {
  test('are ordered by time, then by lane; ready heartbeats are omitted', () => {
    expect(eventsWithin(0, 30)).toEqual([
      'health 3',
      'health 4',
      'configuration 0',
      'act 1',
      'health 3',
      'heartbeat 5',
      'execution 2',
      'health 3',
    ]);
  });

  test('include those that began before the range but reach into it', () => {
    expect(eventsWithin(15, 18)).toEqual(['health 4', 'health 3', 'execution 2']);
  });

  test('omit those of extensions without a lane', () => {
    expect(
      eventsOf(timeline, { names: ['a'], hasHooks: false }, at(0), at(30)).filter(({ kind }) => kind === 'health'),
    ).toHaveLength(1);
  });

  test('on a machine with units, hooks have a lane above the extensions', () => {
    const withHooks = { ...lanes, hasHooks: true };
    const shown = eventsOf(timeline, withHooks, at(12), at(15));
    expect(shown.map((event) => `${event.kind} ${laneOf(event, withHooks)}`)).toEqual([
      ...['health 5', 'health 4', 'heartbeat 6', 'execution 2', 'hook 3'],
    ]);
    expect(shown.at(-1)).toMatchObject({ drawn: 'failed', from: at(14), to: at(15) });
    const execution = shown.find(({ kind }) => kind === 'execution');
    expect(execution && nextEvent(shown, withHooks, execution, 'ArrowDown')?.kind).toBe('hook');
  });

  test.each([
    ['ArrowRight', 'act', 'health'],
    ['ArrowLeft', 'act', 'configuration'],
    ['ArrowUp', 'act', 'configuration'],
    ['ArrowDown', 'act', 'execution'],
    ['ArrowDown', 'execution', 'health'],
    ['ArrowUp', 'configuration', undefined],
    ['ArrowDown', 'heartbeat', undefined],
    ['Home', 'heartbeat', 'health'],
    ['End', 'configuration', 'health'],
    ['x', 'configuration', undefined],
  ])('%s on a %s leads to %s', (key, kind, expected) => {
    const events = eventsOf(timeline, lanes, at(0), at(30));
    const current = events.find((event) => event.kind === kind);
    expect(current && nextEvent(events, lanes, current, key)?.kind).toBe(expected);
  });

  test('the arrow down leads from an action to the event nearest in time', () => {
    const events = eventsOf(timeline, lanes, at(0), at(30));
    const act = events.find(({ kind }) => kind === 'act');
    expect(act && nextEvent(events, lanes, act, 'ArrowDown')?.from).toBe(at(13));
  });
});

describe('heartbeat ticks', () => {
  const ticks = (from: number, now: number, step: number) =>
    ticksOf(timeline.lanes, at(from), at(now), step * 60_000).map((tick) => tick.drawn);

  test('appear once per step, each with the worst verdict of any extension in it', () => {
    expect(ticks(10, 16, 1)).toEqual([
      'healthy',
      'healthy',
      'unresponsive',
      'unresponsive',
      'unresponsive',
      'healthy',
      'healthy',
    ]);
  });

  test('show a short silence in a long step', () => {
    expect(ticks(0, 30, 10)).toEqual(['healthy', 'healthy', 'unresponsive', 'healthy']);
  });

  test('are absent where nothing was recorded', () => {
    expect(ticksOf([{ heartbeat: [heartbeat('none', 0, null)] }], at(0), at(5), 60_000)).toEqual([]);
  });
});

test.each([
  ['Ada Brandt', 'AB'],
  ['ada', 'A'],
  ['Ada de la Brandt', 'AB'],
  ['', '?'],
  ['🦊 Fox', '🦊F'],
])('the initials of %s are %s', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});
