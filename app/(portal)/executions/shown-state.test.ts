import { describe, expect, test } from 'vitest';
import type { ExecutionState } from '#protocol/executions/states.ts';
import {
  executionsBefore,
  inQueueOrder,
  isQuiet,
  knownOf,
  lastContact,
  nextAct,
  obstacleOf,
  planTimeoutAt,
  shownState,
} from './shown-state.ts';

const at = '2026-03-02T09:00:00.000Z';

describe('the state that people see', () => {
  test('an execution that is being canceled does not look like one that runs on', () => {
    const running = { state: 'running', reason: null, cancelAskedAt: at } as const;
    expect(shownState(running)).toEqual({ word: 'canceling', status: 'progressing' });
    expect(shownState({ ...running, cancelAskedAt: null })).toEqual({ word: 'running', status: 'progressing' });
  });

  test('declined and not run are not called canceled', () => {
    const ended = { state: 'cancelled', cancelAskedAt: null } as const;
    expect(shownState({ ...ended, reason: 'execution.declined' }).word).toBe('declined');
    expect(shownState({ ...ended, reason: 'execution.needs-secrets' })).toEqual({ word: 'not-run', status: 'warning' });
    expect(shownState({ ...ended, reason: 'execution.machine-replaced' }).word).toBe('not-run');
    expect(shownState({ ...ended, reason: null, cancelAskedAt: at }).word).toBe('cancelled');
  });

  test('a timeout does not have the icon of a failure, nor a wait for approval that of a queued execution', () => {
    const iconOf = (state: ExecutionState) => {
      const { status, shape = status } = shownState({ state, reason: null, cancelAskedAt: null });
      return shape;
    };
    expect(iconOf('timed-out')).not.toBe(iconOf('failed'));
    expect(iconOf('waiting-approval')).not.toBe(iconOf('queued'));
    expect(iconOf('queued')).toBe('waiting');
  });
});

test('nothing is claimed about an execution without a result, and an undelivered one did not run', () => {
  expect(knownOf({ state: 'expired', deliveredAt: null, late: false })).toBe('nothing-ran');
  expect(knownOf({ state: 'cancelled', deliveredAt: null, late: false })).toBe('nothing-ran');
  expect(knownOf({ state: 'lost', deliveredAt: at, late: false })).toBe('unknown');
  expect(knownOf({ state: 'timed-out', deliveredAt: at, late: false })).toBe('unknown');
  expect(knownOf({ state: 'timed-out', deliveredAt: at, late: true })).toBe('all');
  expect(knownOf({ state: 'failed', deliveredAt: at, late: false })).toBe('all');
});

describe('the next act', () => {
  const all = { again: true, edit: true };
  const none = { again: false, edit: false };
  const failed = { state: 'failed', reason: null, runbook: null, secretParameters: [] as string[] } as const;

  test('every end without success names one', () => {
    expect(nextAct(failed, all)).toBe('next.failed.edit');
    expect(nextAct(failed, { again: true, edit: false })).toBe('next.failed');
    expect(nextAct({ ...failed, state: 'expired', reason: 'execution.expired' }, all)).toBe('next.expired');
    expect(nextAct({ ...failed, state: 'lost', reason: 'execution.lost' }, all)).toBe('next.unknown');
    expect(nextAct({ ...failed, state: 'timed-out', reason: 'execution.timed-out' }, all)).toBe('next.unknown');
    const ended = { ...failed, state: 'cancelled' } as const;
    expect(nextAct({ ...ended, reason: 'execution.declined' }, all)).toBe('next.declined.edit');
    expect(nextAct({ ...ended, reason: 'execution.declined' }, { again: true, edit: false })).toBe('next.declined');
    expect(nextAct({ ...ended, reason: 'execution.needs-secrets', runbook: 'tls' }, all)).toBe('next.secrets');
    const sealed = { ...ended, secretParameters: ['token'] };
    expect(nextAct({ ...sealed, reason: 'execution.needs-secrets' }, all)).toBe('next.secrets.plan');
    expect(nextAct({ ...sealed, state: 'failed' }, all), 'a plan cannot run again without them').toBe(
      'next.secrets.plan',
    );
    expect(nextAct({ ...ended, reason: 'execution.machine-replaced' }, all)).toBe('next.replaced');
  });

  test('a success and a cancellation by a person need none', () => {
    expect(nextAct({ ...failed, state: 'succeeded' }, all)).toBeNull();
    expect(nextAct({ ...failed, state: 'cancelled' }, all)).toBeNull();
    expect(nextAct({ ...failed, state: 'cancelled', reason: 'execution.cancelled' }, none)).toBeNull();
  });

  test('readers who cannot run it again learn who can', () => {
    expect(nextAct(failed, none)).toBe('next.needsScripts');
    expect(nextAct({ ...failed, runbook: 'tls' }, none)).toBe('next.needsOperator');
  });
});

describe('the queue', () => {
  const approval = { id: 'a', state: 'waiting-approval', turn: 1 } as const;
  const second = { id: 'b', state: 'queued', turn: 3 } as const;
  const first = { id: 'c', state: 'running', turn: 2 } as const;
  const open = [approval, second, first];

  test('an execution that waits for approval comes last and is ahead of nothing', () => {
    expect(inQueueOrder(open).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
    expect(executionsBefore(open).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(executionsBefore(open, second.turn).map(({ id }) => id)).toEqual(['c']);
  });
});

test('the timeout of a plan ends without the grace period of the portal', () => {
  expect(planTimeoutAt({ deliveredAt: at, timeoutSeconds: 3_600 })).toBe(Date.parse('2026-03-02T10:00:00.000Z'));
  expect(planTimeoutAt({ deliveredAt: null, timeoutSeconds: 3_600 })).toBeNull();
});

test('a delivery after the last poll is a contact', () => {
  const later = '2026-03-02T09:02:30.000Z';
  const none = { deliveredAt: null, receivedAt: null, begunAt: null, channel: 'https' } as const;
  expect(lastContact(at, { ...none, deliveredAt: later })).toBe(later);
  expect(lastContact(later, { ...none, deliveredAt: at, receivedAt: at })).toBe(later);
  expect(lastContact(null, { ...none, deliveredAt: at })).toBe(at);
  expect(lastContact(null, none)).toBeNull();
  expect(lastContact(null, { ...none, channel: 'amqp', deliveredAt: at })).toBeNull();
});

test.each([
  ['nothing, if the machine responds', 'https', { status: 'ready', lastSeenAt: at, hold: null }, null],
  ['the hold of the VM', 'https', { status: 'ready', lastSeenAt: at, hold: {} }, 'held'],
  ['the first machine', 'https', { status: 'unknown', lastSeenAt: null, hold: null }, 'noMachine'],
  ['a silent machine', 'https', { status: 'unresponsive', lastSeenAt: at, hold: null }, 'silent'],
  ['nothing that concerns polls, over AMQP', 'amqp', { status: 'unresponsive', lastSeenAt: null, hold: null }, null],
] as const)('a queued execution waits for %s', (_, channel, agent, expected) => {
  expect(obstacleOf({ channel }, agent)).toBe(expected);
});

test.each([
  ['a silent machine that has the execution', 'https', '2026-03-01T12:00:00Z', 'unresponsive', true],
  ['a machine that responds', 'https', '2026-03-01T12:00:00Z', 'ready', false],
  ['a silent machine that does not have the execution yet', 'https', null, 'unresponsive', false],
  ['an agent that takes plans from the broker', 'amqp', '2026-03-01T12:00:00Z', 'unresponsive', false],
] as const)('it is unknown whether an execution is running: %s', (_, channel, deliveredAt, status, expected) => {
  expect(isQuiet({ channel, deliveredAt }, { status })).toBe(expected);
});
