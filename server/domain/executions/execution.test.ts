import { describe, expect, test } from 'vitest';
import { executionStates, finalStates, openStates, waitingStates } from '#protocol/executions/index.ts';
import { after, dueAfter, type ExecutionEvent, isFinal, isOpen, nextProgressSeconds, nextStamp } from './execution.ts';

const events: readonly ExecutionEvent[] = [
  'hand-out',
  'run',
  'restart',
  'succeed',
  'fail',
  'cancel',
  'expire',
  'end',
  'time-out',
  'lose',
];

describe('the table of states', () => {
  test.each(finalStates)('nothing changes %s', (state) => {
    expect(events.map((event) => after(state, event)).filter((next) => next !== null)).toEqual([]);
    expect(isFinal(state)).toBe(true);
  });

  test.each(openStates)('%s can end in every way that a machine causes', (state) => {
    const ends = events.map((event) => after(state, event)).filter((next) => next !== null && isFinal(next));
    expect(new Set(ends)).toEqual(new Set(['succeeded', 'failed', 'cancelled', 'timed-out', 'lost']));
    expect([isOpen(state), isFinal(state)]).toEqual([true, false]);
  });

  test.each(waitingStates)('%s never ends as if a machine had begun it', (state) => {
    for (const event of ['succeed', 'fail', 'time-out', 'lose', 'run', 'restart'] as const) {
      expect(after(state, event)).toBeNull();
    }
    expect([after(state, 'expire'), after(state, 'cancel'), after(state, 'end')]).toEqual([
      'expired',
      'cancelled',
      'cancelled',
    ]);
  });

  test('only a queued execution, or one that was not acknowledged, is handed out', () => {
    expect(executionStates.filter((state) => after(state, 'hand-out') !== null)).toEqual(['queued', 'delivered']);
  });

  test('every state can be left, unless it is final (MU-69)', () => {
    for (const state of executionStates) {
      const ways = events.filter((event) => after(state, event) !== null);
      expect(ways.length > 0, state).toBe(!isFinal(state));
    }
  });
});

describe('times', () => {
  const delivered = new Date('2030-01-01T00:00:00Z');

  test.each([
    [10, 15],
    [100, 110],
    [3_600, 3_660],
    [604_800, 604_860],
  ])('an execution of %i s is due after %i s', (timeout, due) => {
    expect(dueAfter(delivered, timeout).getTime() - delivered.getTime()).toBe(due * 1_000);
  });

  test('stamps rise with the clock, and without it (MU-27)', () => {
    expect(nextStamp(delivered, 0)).toBe(delivered.getTime() * 10);
    expect(nextStamp(delivered, delivered.getTime() * 10)).toBe(delivered.getTime() * 10 + 1);
    expect(nextStamp(new Date(0), 99)).toBe(100);
  });

  test.each<[what: string, begun: number | null, followed: number | null, seconds: number]>([
    ['has not begun', null, null, 1],
    ['began 9 s ago', 9, null, 1],
    ['began 11 s ago', 11, null, 5],
    ['is followed', 3_600, 5, 1],
    ['was followed until 1 s ago', 3_600, -1, 5],
  ])('the next progress of an execution that %s', (_, begun, followed, seconds) => {
    const at = (offset: number | null) => (offset === null ? null : new Date(delivered.getTime() + offset * 1_000));
    expect(nextProgressSeconds(delivered, at(begun === null ? null : -begun), at(followed))).toBe(seconds);
  });
});
