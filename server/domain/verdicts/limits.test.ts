import { describe, expect, test } from 'vitest';
import { handlerStates } from '#protocol/index.ts';
import { standsStill, withoutPauses } from './pauses.ts';
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

describe('a deadline counts from the delivery or the end of a wait, without the time of holds', () => {
  const goal = {
    ...{ state: 'enabled' as const, timeouts: { install: 0, update: 0, enable: 0, disable: 0, uninstall: 0 } },
    ...{ commands: null, changedAt: ago(1_000) },
  };
  test.each([
    // Columns: delivered, waits until, held from and to, deadline. All in seconds ago (negative = in the future).
    [null, null, [], 700],
    [900, null, [], 600],
    [900, 800, [], 500],
    [900, 950, [], 600],
    [900, -60, [], -360],
    // A hold within the period moves the deadline by its length.
    [900, null, [[800, 700]], 500],
    [null, null, [[800, 700]], 600],
    // A hold that began earlier counts from the start of the period.
    [900, null, [[1_000, 800]], 500],
    [900, 800, [[850, 700]], 400],
    // A hold that ended before the period, or began after the deadline, does not move the deadline. A hold that began
    // at the deadline moves it.
    [900, null, [[1_000, 900]], 600],
    [900, null, [[599, 500]], 600],
    [900, null, [[600, 500]], 500],
    [900, 700, [[850, 800]], 400],
    // By moving the deadline, a hold can bring the next hold into the period.
    [
      900,
      null,
      [
        [650, 550],
        [540, 500],
      ],
      460,
    ],
    [
      900,
      null,
      [
        [800, 790],
        [780, 770],
        [100, 50],
      ],
      580,
    ],
    // This hold ends in the future, because the clocks of processes differ.
    [900, null, [[650, -50]], -100],
  ] as const)('delivered %j s ago, waiting until %j s ago, held %j: %d s ago', (delivered, waits, holds, end) => {
    const moment = (seconds: number | null) => (seconds === null ? null : ago(seconds));
    const [deliveredAt, waitsUntil] = [moment(delivered), moment(waits)];
    const past = holds.map(([from, to]) => [ago(from).toISOString(), ago(to).toISOString()] as const);
    expect(deadlineOf({ ...goal, deliveredAt, waitsUntil, pauses: { past } })).toEqual(ago(end));
  });

  test('it is the moment at which a clock that stops during holds has run for the allowed time', () => {
    let state = 7;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 500; round += 1) {
      const bounds = Array.from({ length: 2 * random(5) }, () => random(200)).toSorted((a, b) => a - b);
      const holds = bounds.flatMap((from, n) => (n % 2 === 0 ? [[from, bounds[n + 1] ?? from] as const] : []));
      const [start, seconds] = [random(200), random(100)];
      let [at, left] = [start, seconds];
      for (;;) {
        const isHeld = holds.some(([from, to]) => from <= at && at < to);
        if (!isHeld && left === 0) break;
        if (!isHeld) left -= 1;
        at += 1;
      }
      const shown = holds.map(([from, to]) => [ago(-from).toISOString(), ago(-to).toISOString()] as const);
      expect(withoutPauses(ago(-start), seconds, { past: shown }), JSON.stringify({ start, seconds, holds })).toEqual(
        ago(-at),
      );
    }
  });

  test.each([
    [null, false],
    [-1, false],
    [0, true],
    [1, true],
  ])('a hold that began %j s before the deadline stops it: %s', (before, stops) => {
    expect(standsStill(now, { since: before === null ? null : ago(before) })).toBe(stops);
  });

  test('a goal without commands has the time to read the status', () => {
    expect(deadlineOf({ ...goal, commands: [], deliveredAt: now })).toEqual(ago(-300));
  });
});

test.each([
  // Columns: seconds from the last call to the announced call, seconds since the last call, status.
  [silenceSeconds - 1, 600, 'ready'],
  [silenceSeconds - 1, 601, 'unresponsive'],
  [silenceSeconds, 601, 'ready'],
  [silenceSeconds, silenceSeconds + 30, 'ready'],
  [silenceSeconds, silenceSeconds + 31, 'unresponsive'],
  [7_200, 7_230, 'ready'],
  [0, 30, 'ready'],
  [0, 31, 'unknown'],
  // The portal's clock was set back.
  [60, -3_600, 'ready'],
])('AZ-S6 an agent that announced %d s of silence and last called %d s ago is %s', (promised, since, status) => {
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
  // A report about this sequence number or a later number counts; a report about an earlier number does not.
  expect(hasFailed({ ...handler, sequenceNumber: 4 }, 4)).toBe(isFailure);
  expect(hasFailed({ ...handler, sequenceNumber: 5 }, 4)).toBe(isFailure);
  expect(hasFailed({ ...handler, sequenceNumber: 3 }, 4)).toBe(false);
});

test('nothing has failed before the first report', () => {
  expect(hasFailed(null, 1)).toBe(false);
});

test('a command is running in exactly the states that end in -ing, except waiting', () => {
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
