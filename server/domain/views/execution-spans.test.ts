import { describe, expect, test } from 'vitest';
import type { ExecutionState } from '#protocol/executions/index.ts';
import { type ExecutionTimes, executionSpansOf } from './execution-spans.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, minute));
const orNull = (minute: number | null) => (minute === null ? null : at(minute));
const given = (
  id: string,
  state: ExecutionState,
  queued: number,
  begun: number | null,
  concluded: number | null,
): ExecutionTimes => ({
  ...{ id, state, name: `plan ${id}`, version: '1.0.0' },
  queuedAt: at(queued),
  begunAt: orNull(begun),
  concludedAt: orNull(concluded),
});

/** The spans as `id state from-to`, with the number of merged executions if there are several. */
const shown = (executions: ExecutionTimes[], slotMinutes = 0.5) =>
  executionSpansOf(executions, slotMinutes * 60_000).map(({ executionId, state, from, to, count }) => {
    const minute = (time: string) => new Date(time).getUTCMinutes();
    const end = to === null ? 'now' : minute(to);
    return `${executionId} ${state} ${minute(from)}-${end}${count > 1 ? ` x${count}` : ''}`;
  });

describe('spans of executions', () => {
  test('an execution waits, then its machine has it', () => {
    expect(shown([given('a', 'succeeded', 0, 4, 9)])).toEqual(['a queued 0-4', 'a succeeded 4-9']);
    expect(shown([given('a', 'running', 0, 4, null)])).toEqual(['a queued 0-4', 'a running 4-now']);
  });

  test('what waits behind another execution is shown from its end', () => {
    const running = given('a', 'failed', 0, 0, 9);
    expect(shown([running, given('b', 'queued', 2, null, null)])).toEqual(['a failed 0-9', 'b queued 9-now']);
    expect(shown([running, given('b', 'succeeded', 2, 12, 14)])).toEqual([
      'a failed 0-9',
      'b queued 9-12',
      'b succeeded 12-14',
    ]);
  });

  test('of several that wait, only the first is shown', () => {
    expect(shown([given('a', 'waiting-approval', 0, null, null), given('b', 'queued', 3, null, null)])).toEqual([
      'a waiting-approval 0-now',
    ]);
  });

  test('an execution that never began ends its wait when it was canceled or expired', () => {
    expect(shown([given('a', 'expired', 0, null, 7)])).toEqual(['a queued 0-7']);
  });

  test('a wait that is too short to see is omitted', () => {
    expect(shown([given('a', 'succeeded', 0, 1, 9)], 2)).toEqual(['a succeeded 1-9']);
  });

  test('short executions are merged into the worst one, and a long one stays alone', () => {
    const short = (id: string, state: ExecutionState, minute: number) => given(id, state, minute, minute, minute + 1);
    const executions = [
      short('a', 'succeeded', 1),
      short('b', 'failed', 2),
      short('c', 'cancelled', 3),
      given('d', 'succeeded', 4, 4, 30),
    ];
    expect(shown(executions, 5)).toEqual(['b failed 1-4 x3', 'd succeeded 4-30']);
  });

  test('the execution that runs is never merged', () => {
    expect(shown([given('a', 'failed', 0, 0, 1), given('b', 'running', 1, 1, null)], 30)).toEqual([
      'a failed 0-1',
      'b running 1-now',
    ]);
  });
});
