import { describe, expect, test } from 'vitest';
import {
  agentStatus,
  deadlineOf,
  evaluateExtensionHealth,
  evaluateVmHealth,
  type HealthEvidence,
  heartbeatVerdict,
  staleFor,
} from './rules.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

describe('heartbeat verdict', () => {
  test.each([
    // Columns: status, age when read, seconds since the reading, period, verdict.
    ['ready', 0, 0, 120, 'ready'],
    ['ready', 60, 0, 120, 'ready'],
    ['ready', 60.5, 0, 120, 'unknown'],
    ['ready', 600, 0, 120, 'unknown'],
    ['ready', 600.5, 0, 120, 'unresponsive'],
    ['notready', 0, 0, 120, 'notready'],
    ['notready', 600, 0, 120, 'notready'],
    ['notready', 601, 0, 120, 'unresponsive'],
    // A reading is valid until the next reading is due, plus the grace period.
    ['ready', 10, 150, 120, 'ready'],
    ['ready', 10, 151, 120, 'unknown'],
    ['notready', 10, 150, 120, 'notready'],
    ['notready', 10, 151, 120, 'unknown'],
    ['ready', 10, 35, 5, 'ready'],
    ['ready', 10, 36, 5, 'unknown'],
    ['ready', 10, 629, 600, 'ready'],
    ['ready', 10, 631, 600, 'unresponsive'],
    // Silence: unresponsive once the file's age plus the time since the reading exceeds 10 minutes.
    ['ready', 10, 590, 120, 'unknown'],
    ['ready', 10, 591, 120, 'unresponsive'],
    ['ready', 500, 151, 120, 'unresponsive'],
    ['notready', 500, 100, 120, 'notready'],
    ['ready', 700, 151, 120, 'unresponsive'],
  ] as const)(
    'AZ-H3 %s, aged %d s, read %d s ago, period %d s: %s',
    (status, ageSeconds, since, periodSeconds, verdict) => {
      const reading = { status, ageSeconds, readAt: ago(since) };
      expect(heartbeatVerdict({ optedIn: true, reading, periodSeconds, enabledAt: null }, now)).toBe(verdict);
    },
  );

  test('AZ-H4 a handler that did not opt in has no verdict, whatever it sent', () => {
    const reading = { status: 'notready' as const, ageSeconds: 900, readAt: ago(900) };
    expect(heartbeatVerdict({ optedIn: false, reading, periodSeconds: 120, enabledAt: null }, now)).toBe('none');
  });

  test.each([
    [null, 'none'],
    [ago(150), 'none'],
    [ago(151), 'unknown'],
  ] as const)('an enabled handler that opted in since %j and never sent any: %s', (enabledAt, verdict) => {
    expect(heartbeatVerdict({ optedIn: true, reading: null, periodSeconds: 120, enabledAt }, now)).toBe(verdict);
  });
});

test.each([
  // Columns: status, age when read, seconds since the reading, period, seconds stale.
  ['transitioning', 0, 0, 300, null],
  ['transitioning', 150, 0, 300, null],
  ['transitioning', 151, 0, 300, 1],
  ['transitioning', 151, 10, 300, 11],
  ['warning', 342, 0, 300, 192],
  ['warning', 10, 330, 300, null],
  ['warning', 10, 331, 300, 1],
  ['transitioning', 0, 40, 5, 5],
  ['success', 9000, 9000, 300, null],
  ['error', 9000, 9000, 300, null],
] as const)(
  'AZ-S4 %s, aged %d s, read %d s ago, period %d s: stale for %j',
  (status, ageSeconds, since, period, stale) => {
    expect(staleFor({ status, ageSeconds, readAt: ago(since) }, period, now)).toBe(stale);
  },
);

test.each([
  // Columns: last seen, announced call (seconds ago; negative = in the future), status.
  [0, -60, 'ready'],
  [90, 30, 'ready'],
  [91, 31, 'unknown'],
  [600, 540, 'unknown'],
  [601, 541, 'unresponsive'],
  [601, -60, 'unresponsive'],
  // A stock agent does not call while a command runs.
  [1_000, -200, 'ready'],
  [1_230, 30, 'ready'],
  [1_231, 31, 'unresponsive'],
] as const)('AZ-S6 an agent seen %d s ago that was due %d s ago is %s', (seen, due, status) => {
  expect(agentStatus({ lastSeenAt: ago(seen), nextExpectedAt: ago(due) }, now)).toBe(status);
});

test('AZ-S6 an agent that never called', () => {
  expect(agentStatus(null, now)).toBe('never');
});

describe('deadline', () => {
  const timeouts = { install: 1, update: 2, enable: 4, disable: 8, uninstall: 16 };
  test.each([
    ['enabled', null, 1 + 4 + 300],
    ['disabled', null, 1 + 8 + 300],
    ['uninstall', null, 8 + 16 + 300],
    ['enabled', ['enable'], 4 + 300],
    ['enabled', ['disable', 'update', 'uninstall', 'enable'], 8 + 2 + 16 + 4 + 300],
    ['disabled', ['disable', 'update', 'uninstall', 'disable'], 8 + 2 + 16 + 8 + 300],
  ] as const)(
    'of the goal %s by the commands %j is %d s after delivery, or after an undelivered change',
    (state, commands, seconds) => {
      const goal = { state, timeouts, commands, changedAt: ago(1000), deliveredAt: ago(500) };
      expect(deadlineOf(goal)).toEqual(ago(500 - seconds));
      expect(deadlineOf({ ...goal, deliveredAt: null })).toEqual(ago(1000 - seconds));
    },
  );
});

describe('health of an extension', () => {
  const good: HealthEvidence = {
    agent: 'ready',
    goal: { state: 'enabled', sequenceNumber: 3 },
    handler: { state: 'enabled', sequenceNumber: 3, exitCode: 0, timedOut: false, blockedBy: undefined },
    heartbeat: 'ready',
    status: { status: 'success', sequenceNumber: 3, stale: false, partFailed: false },
    deadlinePassed: false,
  };
  type Changes = {
    agent?: HealthEvidence['agent'];
    goal?: Partial<HealthEvidence['goal']>;
    handler?: Partial<NonNullable<HealthEvidence['handler']>> | null;
    heartbeat?: HealthEvidence['heartbeat'];
    status?: Partial<NonNullable<HealthEvidence['status']>> | null;
    deadlinePassed?: boolean;
  };
  const facts = (changes: Changes): HealthEvidence => ({
    ...good,
    ...changes,
    goal: { ...good.goal, ...changes.goal },
    handler:
      changes.handler === null
        ? null
        : { ...(good.handler as NonNullable<HealthEvidence['handler']>), ...changes.handler },
    status:
      changes.status === null ? null : { ...(good.status as NonNullable<HealthEvidence['status']>), ...changes.status },
  });

  test.each<[Changes, string, string | null]>([
    [{}, 'healthy', null],
    [{ handler: null }, 'healthy', null],
    [{ agent: 'unknown' }, 'healthy', null],
    [{ heartbeat: 'none' }, 'healthy', null],
    // Precedence 1: the agent's status.
    [{ agent: 'never', status: { status: 'error' } }, 'unknown', null],
    [{ agent: 'unresponsive', status: { status: 'error' } }, 'unresponsive', 'silent'],
    [{ agent: 'unresponsive', goal: { state: 'disabled' }, handler: { state: 'disabled' } }, 'unresponsive', 'silent'],
    // Precedence 2: an extension that is disabled as declared.
    [{ goal: { state: 'disabled' }, handler: { state: 'disabled' }, status: { status: 'error' } }, 'disabled', null],
    [{ goal: { state: 'disabled', sequenceNumber: 4 } }, 'progressing', null],
    // Precedence 3: failures of the goal's sequence number.
    [{ handler: { state: 'failed' } }, 'failed', 'command'],
    [{ handler: { exitCode: 51 } }, 'failed', 'exit'],
    [{ handler: { timedOut: true } }, 'failed', 'timeout'],
    [{ handler: { state: 'failed', exitCode: 51, timedOut: true } }, 'failed', 'timeout'],
    [{ handler: { state: 'failed', exitCode: 51 }, status: { status: 'error' } }, 'failed', 'exit'],
    [{ handler: { state: 'failed', sequenceNumber: 2 } }, 'progressing', null],
    [{ status: { status: 'error' }, heartbeat: 'notready' }, 'failed', 'status'],
    [{ status: { status: 'error', sequenceNumber: 2 }, handler: { sequenceNumber: 2 } }, 'progressing', null],
    // Precedence 4: the heartbeat.
    [{ heartbeat: 'unresponsive', deadlinePassed: true }, 'degraded', 'heartbeat'],
    [{ heartbeat: 'notready', status: null }, 'degraded', 'heartbeat'],
    // Precedence 5: the deadline.
    [{ deadlinePassed: true, status: { status: 'transitioning' } }, 'failed', 'deadline'],
    // Precedence 6: unfinished work.
    [{ status: null }, 'progressing', null],
    [{ status: null, handler: null }, 'progressing', null],
    [{ status: { status: 'transitioning', stale: true }, heartbeat: 'unknown' }, 'progressing', 'stale'],
    [{ handler: { state: 'waiting', blockedBy: 'mount' } }, 'progressing', 'waiting'],
    [{ handler: { sequenceNumber: 2 } }, 'progressing', null],
    // Precedence 7: warnings.
    [{ status: { status: 'warning' } }, 'degraded', 'status'],
    [{ status: { status: 'warning', stale: true } }, 'degraded', 'status'],
    [{ status: { partFailed: true } }, 'degraded', 'substatus'],
    [{ status: { status: 'warning', stale: true, partFailed: true }, heartbeat: 'unknown' }, 'degraded', 'substatus'],
    [{ status: { status: 'transitioning', partFailed: true } }, 'progressing', null],
    [{ status: { partFailed: true }, heartbeat: 'notready' }, 'degraded', 'heartbeat'],
    [{ status: { partFailed: true, sequenceNumber: 2 }, handler: { sequenceNumber: 2 } }, 'progressing', null],
    [{ heartbeat: 'unknown' }, 'degraded', 'heartbeat'],
    [{ handler: { state: 'waiting', sequenceNumber: 2 } }, 'progressing', null],
    [{ handler: { state: 'waiting' }, status: null }, 'progressing', 'waiting'],
    [{ status: { status: 'transitioning' } }, 'progressing', null],
  ])('AZ-S6 %j: %s because of %s', (changes, health, cause) => {
    expect(evaluateExtensionHealth(facts(changes))).toEqual({ health, cause });
  });
});

test.each([
  ['unresponsive', ['failed'], 'unresponsive'],
  ['ready', ['healthy', 'degraded', 'failed', 'unknown'], 'failed'],
  ['ready', ['unknown', 'degraded', 'progressing'], 'degraded'],
  ['never', ['unknown'], 'unknown'],
  ['ready', ['progressing', 'healthy'], 'progressing'],
  ['ready', ['healthy', 'disabled'], 'healthy'],
  ['ready', ['disabled'], 'healthy'],
  ['ready', [], 'healthy'],
  ['unknown', [], 'unknown'],
  ['never', [], 'unknown'],
] as const)('AZ-S6 a VM with a %s agent and extensions %j is %s', (agent, extensions, health) => {
  expect(evaluateVmHealth(agent, extensions)).toBe(health);
});
