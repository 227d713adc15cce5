import { describe, expect, test } from 'vitest';
import { handlerStates } from '#protocol/index.ts';
import {
  agentStatus,
  deadlineOf,
  hasFailed,
  heartbeatVerdict,
  isRunningState,
  isWaiting,
  lastCommandFailed,
  silenceSeconds,
  staleFor,
} from './rules.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

describe('a deadline starts at the latest of delivery, the end of a wait and the end of a hold', () => {
  const goal = {
    ...{ state: 'enabled' as const, timeouts: { install: 0, update: 0, enable: 0, disable: 0, uninstall: 0 } },
    ...{ commands: null, changedAt: ago(1_000) },
  };
  test.each([
    // delivered, waits until, released (seconds ago; negative = to come), start
    [null, null, null, 1_000],
    [900, null, null, 900],
    [900, 800, null, 800],
    [900, 950, null, 900],
    [900, -60, null, -60],
    [900, null, 700, 700],
    [900, null, 950, 900],
    [900, 800, 700, 700],
    [900, 700, 800, 700],
    [null, null, 500, 500],
    [null, 1_100, 1_200, 1_000],
  ])('delivered %j s ago, waiting until %j s ago, released %j s ago: %d s ago', (delivered, waits, released, start) => {
    const moment = (seconds: number | null) => (seconds === null ? null : ago(seconds));
    const [deliveredAt, waitsUntil, releasedAt] = [moment(delivered), moment(waits), moment(released)];
    expect(deadlineOf({ ...goal, deliveredAt, waitsUntil, releasedAt })).toEqual(ago(start - 300));
  });

  test('a goal without commands has the time to read the status', () => {
    expect(deadlineOf({ ...goal, commands: [], deliveredAt: now })).toEqual(ago(-300));
  });
});

test.each([
  // promised ahead, seconds since the last call, status
  [silenceSeconds - 1, 600, 'ready'],
  [silenceSeconds - 1, 601, 'unresponsive'],
  [silenceSeconds, 601, 'ready'],
  [silenceSeconds, silenceSeconds + 30, 'ready'],
  [silenceSeconds, silenceSeconds + 31, 'unresponsive'],
  [7_200, 7_230, 'ready'],
  [0, 30, 'ready'],
  [0, 31, 'unknown'],
  // the portal's clock was set back
  [60, -3_600, 'ready'],
])('AZ-S6 an agent that announced %d s of silence is, %d s later, %s', (promised, since, status) => {
  const presence = { lastSeenAt: ago(since), nextExpectedAt: ago(since - promised) };
  expect(agentStatus(presence, now)).toBe(status);
});

test('AZ-H3, AZ-S4 a reading from the future is as old as it was when it was read', () => {
  const reading = { ageSeconds: 30, readAt: ago(-600) };
  const heartbeat = { optedIn: true, reading: { ...reading, status: 'ready' as const }, enabledAt: null };
  expect(heartbeatVerdict({ ...heartbeat, periodSeconds: 120 }, now)).toBe('ready');
  expect(staleFor({ ...reading, status: 'warning' }, 300, now)).toBeNull();
  expect(staleFor({ ...reading, ageSeconds: 170, status: 'warning' }, 300, now)).toBe(20);
});

test.each([
  [{ state: 'enabled', exitCode: 0, timedOut: false }, false],
  [{ state: 'enabled', exitCode: null, timedOut: false }, false],
  [{ state: 'enabled', timedOut: false }, false],
  [{ state: 'failed', timedOut: false }, true],
  [{ state: 'failed', exitCode: 0, timedOut: false }, true],
  [{ state: 'enabled', exitCode: 1, timedOut: false }, true],
  [{ state: 'enabled', exitCode: -1, timedOut: false }, true],
  [{ state: 'disabled', exitCode: 0, timedOut: true }, true],
  [{ state: 'removed', exitCode: 3, timedOut: false }, true],
] as const)('the last command of %j failed: %s', (handler, isFailure) => {
  expect(lastCommandFailed(handler)).toBe(isFailure);
  // Of this sequence number or a later one, but not of an earlier one.
  expect(hasFailed({ ...handler, sequenceNumber: 4 }, 4)).toBe(isFailure);
  expect(hasFailed({ ...handler, sequenceNumber: 5 }, 4)).toBe(isFailure);
  expect(hasFailed({ ...handler, sequenceNumber: 3 }, 4)).toBe(false);
});

test('nothing has failed before the first report', () => {
  expect(hasFailed(null, 1)).toBe(false);
});

test('the states of a running command are those that end in -ing, without waiting', () => {
  const running = handlerStates.filter(isRunningState);
  expect(running).toEqual(handlerStates.filter((state) => state.endsWith('ing') && state !== 'waiting'));
});

test.each([
  [null, false],
  [{ state: 'waiting' }, true],
  [{ state: 'waiting', blockedBy: 'mount' }, true],
  [{ state: 'enabled', blockedBy: 'mount' }, true],
  [{ state: 'enabled', blockedBy: null }, false],
  [{ state: 'enabled' }, false],
] as const)('%j waits for another extension: %s', (handler, waits) => {
  expect(isWaiting(handler)).toBe(waits);
});
