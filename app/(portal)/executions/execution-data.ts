import type { inferRouterOutputs } from '@trpc/server';
import type { IconShape, StatusName } from '#app/_ui/status-icon.tsx';
import { type ExecutionState, finalStates, waitingStates } from '#protocol/executions/states.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export { executionHref } from './execution-href.ts';

type Outputs = inferRouterOutputs<AppRouter>['executions'];

/** An execution, with a sentence that says how it ended. */
export type ShownExecution = Outputs['list']['items'][number];
export type ExecutionPage = Outputs['list'];
/** Executions of the same plan, counted by outcome. */
export type ShownExecutionGroup = Outputs['groups']['groups'][number];
export type ExecutionOutcome = ShownExecutionGroup['outcomes'][number];
/** An execution with its calls. */
export type ShownExecutionDetails = Outputs['get'];
export type ShownCall = ShownExecutionDetails['calls'][number];
export type LogPage = Outputs['log'];
export type ComparedExecutions = Outputs['compare'];
/** The rows of a log that a level filter selects. */
export type LogPart = Outputs['filter'];
export type { LogRow } from '#server/domain/executions/index.ts';

/** Number of executions on one page of a list. */
export const pageSize = 50;

/** The icon of each state. */
export const statusOfState: Readonly<Record<ExecutionState, StatusName>> = {
  'waiting-approval': 'waiting',
  queued: 'waiting',
  delivered: 'progressing',
  running: 'progressing',
  restarting: 'progressing',
  succeeded: 'healthy',
  failed: 'failed',
  'timed-out': 'failed',
  cancelled: 'disabled',
  expired: 'warning',
  lost: 'unresponsive',
};

/** The icons of states that share a status with another state. */
export const shapeOfState: Readonly<Partial<Record<ExecutionState, IconShape>>> = {
  'waiting-approval': 'person',
  'timed-out': 'clock',
};

/** The icon of each state of a call. */
export const statusOfCall: Readonly<Record<ShownCall['state'], StatusName>> = {
  running: 'progressing',
  succeeded: 'healthy',
  failed: 'failed',
};

export const hasEnded = ({ state }: Pick<ShownExecution, 'state'>): boolean =>
  (finalStates as readonly string[]).includes(state);

/** Whether the execution waits in the portal, so that a cancellation takes effect immediately. */
export const isWaiting = ({ state }: Pick<ShownExecution, 'state'>): boolean =>
  (waitingStates as readonly string[]).includes(state);

/** Returns how long the machine had the execution, in milliseconds; null if it never had it. */
export function tookMs({ begunAt, deliveredAt, concludedAt }: ShownExecution): number | null {
  const from = begunAt ?? deliveredAt;
  return from === null || concludedAt === null ? null : Math.max(0, Date.parse(concludedAt) - Date.parse(from));
}

/**
 * Returns the row at which the search for the first error starts: the row of the first failed call, or 0 if no call
 * failed. Returns null if the execution has not ended or has succeeded.
 */
export function placeOfError({ state, calls }: Pick<ShownExecutionDetails, 'state' | 'calls'>): number | null {
  if (!hasEnded({ state }) || state === 'succeeded') return null;
  return calls.find((call) => call.state === 'failed')?.row ?? 0;
}
