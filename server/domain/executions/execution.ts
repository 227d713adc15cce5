import { type ExecutionState, finalStates, openStates } from '#protocol/executions/index.ts';
import { type Pauses, secondsBetween, standsStill, withoutPauses } from '#server/domain/verdicts/index.ts';

export type { ExecutionState } from '#protocol/executions/index.ts';

/** Events of an execution. `end`: the portal ends a waiting execution. */
export type ExecutionEvent =
  | 'approve'
  | 'decline'
  | 'hand-out'
  | 'run'
  | 'restart'
  | 'succeed'
  | 'fail'
  | 'cancel'
  | 'expire'
  | 'end'
  | 'time-out'
  | 'lose';

const waiting = { cancel: 'cancelled', expire: 'expired', end: 'cancelled' } as const;
const onMachine = {
  run: 'running',
  restart: 'restarting',
  succeed: 'succeeded',
  fail: 'failed',
  cancel: 'cancelled',
  'time-out': 'timed-out',
  lose: 'lost',
} as const;

/** The state that each event leads to, by the current state. Events that are not listed change nothing. */
const transitions: Readonly<Record<ExecutionState, Readonly<Partial<Record<ExecutionEvent, ExecutionState>>>>> = {
  'waiting-approval': { ...waiting, approve: 'queued', decline: 'cancelled' },
  queued: { ...waiting, 'hand-out': 'delivered' },
  delivered: { ...onMachine, 'hand-out': 'delivered' },
  running: onMachine,
  restarting: onMachine,
  succeeded: {},
  failed: {},
  'timed-out': {},
  cancelled: {},
  expired: {},
  lost: {},
};

/** Returns the state after an event, or null if the event changes nothing in this state. */
export function after(state: ExecutionState, event: ExecutionEvent): ExecutionState | null {
  return transitions[state][event] ?? null;
}

export const isFinal = (state: ExecutionState): boolean => (finalStates as readonly string[]).includes(state);

export const isOpen = (state: ExecutionState): boolean => (openStates as readonly string[]).includes(state);

/**
 * Returns when the portal ends a delivered execution: after its timeout and a grace period of a tenth of the timeout (5
 * to 60 seconds). The grace period leaves the agent time to enforce the timeout itself.
 */
export function dueAfter(deliveredAt: Date, timeoutSeconds: number): Date {
  const grace = Math.min(60, Math.max(5, timeoutSeconds / 10));
  return new Date(deliveredAt.getTime() + (timeoutSeconds + grace) * 1_000);
}

/** The shortest time until a held execution is checked again, in milliseconds. */
const shortestCheckMs = 5_000;

/**
 * Returns when a waiting execution expires. Time on hold does not count: during a hold, the result moves forward with
 * the current time, so that the validity that remains is the same at the start and at the end of the hold.
 */
export function expiryOf(
  { queuedAt, validUntil }: { queuedAt: Date; validUntil: Date },
  holds: Pauses,
  now: Date,
): Date {
  const expiry = withoutPauses(queuedAt, secondsBetween(queuedAt, validUntil), holds);
  if (holds.since === null || !standsStill(expiry, holds)) return expiry;
  const left = expiry.getTime() - Math.max(holds.since.getTime(), queuedAt.getTime());
  return new Date(now.getTime() + Math.max(left, shortestCheckMs));
}

/** Returns the stamp after `last`: the time in milliseconds × 10, but always higher than `last` (MU-27). */
export function nextStamp(now: Date, last: number): number {
  return Math.max(now.getTime() * 10, last + 1);
}

/**
 * Returns the seconds until the agent's next progress report: 1 if the Body has run for less than 10 seconds or someone
 * is following the log, otherwise 5.
 */
export function nextProgressSeconds(now: Date, begunAt: Date | null, followedUntil: Date | null): number {
  const isFollowed = followedUntil !== null && followedUntil > now;
  const isFresh = begunAt === null || now.getTime() - begunAt.getTime() < 10_000;
  return isFollowed || isFresh ? 1 : 5;
}
