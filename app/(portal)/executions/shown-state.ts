import type { IconShape, StatusName } from '#app/_ui/status-icon.tsx';
import { type ExecutionState, notRunReasons } from '#protocol/executions/states.ts';
import { hasEnded, type ShownExecution, shapeOfState, statusOfState } from './execution-data.ts';

/** The states that people see. Some say more than the state of the contract. */
export type ShownState = ExecutionState | 'canceling' | 'declined' | 'not-run';

/**
 * Returns the word and the icon for the state of an execution. `cancelled` has three meanings: a person canceled the
 * execution, a person declined it, or the portal could not run it. An execution that is being canceled still has the
 * state `running`.
 */
export function shownState(execution: Pick<ShownExecution, 'state' | 'reason' | 'cancelAskedAt'>): {
  word: ShownState;
  status: StatusName;
  shape?: IconShape | undefined;
} {
  const { state, reason, cancelAskedAt } = execution;
  if (!hasEnded(execution) && cancelAskedAt !== null) return { word: 'canceling', status: 'progressing' };
  if (state === 'cancelled' && reason === 'execution.declined') return { word: 'declined', status: 'disabled' };
  if ((notRunReasons as readonly (string | null)[]).includes(reason)) {
    return { word: 'not-run', status: 'warning' };
  }
  return { word: state, status: statusOfState[state], shape: shapeOfState[state] };
}

/**
 * Returns what is known about an execution that has ended: `nothing-ran` if it was never delivered, `unknown` if the
 * machine sent no result, so that its log can be incomplete, and `all` otherwise.
 */
export function knownOf({
  state,
  deliveredAt,
  late,
}: Pick<ShownExecution, 'state' | 'deliveredAt' | 'late'>): 'nothing-ran' | 'unknown' | 'all' {
  if (deliveredAt === null) return 'nothing-ran';
  return (state === 'timed-out' || state === 'lost') && !late ? 'unknown' : 'all';
}

/** What the reader can do with an execution: `again` runs its plan again, `edit` also changes the plan. */
export interface MayRun {
  again: boolean;
  edit: boolean;
}

/** Reasons of executions that a person or a rollout canceled. */
const asked: readonly (string | null)[] = [null, 'execution.cancelled', 'execution.recalled'];

/**
 * Returns the key of the text that says what to do after an execution ended without success; null after a success, and
 * if a person or a rollout canceled it.
 */
export function nextAct(
  {
    state,
    reason,
    runbook,
    secretParameters,
  }: Pick<ShownExecution, 'state' | 'reason' | 'runbook' | 'secretParameters'>,
  may: MayRun,
) {
  if (state === 'succeeded' || (state === 'cancelled' && asked.includes(reason))) return null;
  if (!may.again) return runbook === null ? 'next.needsScripts' : 'next.needsOperator';
  // Only the API accepts secret parameters for a plan that is not a runbook.
  if (runbook === null && secretParameters.length > 0) return 'next.secrets.plan';
  if (reason === 'execution.declined') return may.edit ? 'next.declined.edit' : 'next.declined';
  if (reason === 'execution.needs-secrets') return 'next.secrets';
  if (reason === 'execution.machine-replaced') return 'next.replaced';
  if (state === 'expired') return 'next.expired';
  if (state === 'failed') return may.edit ? 'next.failed.edit' : 'next.failed';
  return 'next.unknown';
}

/** Returns executions in the order in which they run. Those that wait for approval come last, because approval gives them a new turn. */
export function inQueueOrder<Execution extends Pick<ShownExecution, 'state' | 'turn'>>(
  executions: readonly Execution[],
): Execution[] {
  const waitsForApproval = ({ state }: Pick<ShownExecution, 'state'>) => Number(state === 'waiting-approval');
  return executions.toSorted((a, b) => waitsForApproval(a) - waitsForApproval(b) || a.turn - b.turn);
}

/** Returns the executions of a VM that come before `turn`, in their order. Those that wait for approval have no turn yet. */
export function executionsBefore<Execution extends Pick<ShownExecution, 'state' | 'turn'>>(
  executions: readonly Execution[],
  turn = Number.POSITIVE_INFINITY,
): Execution[] {
  return inQueueOrder(executions).filter((each) => each.state !== 'waiting-approval' && each.turn < turn);
}

/** Returns when the plan's own timeout ends, in milliseconds; the portal waits a grace period longer for the result. */
export function planTimeoutAt({ deliveredAt, timeoutSeconds }: Pick<ShownExecution, 'deliveredAt' | 'timeoutSeconds'>) {
  return deliveredAt === null ? null : Date.parse(deliveredAt) + timeoutSeconds * 1_000;
}

/**
 * Returns the time of the last sign of a machine: its last poll or, if later, a step of the execution; null if there was
 * none. A plan over AMQP is delivered to the broker, so its delivery is not a sign of the machine.
 */
export function lastContact(
  lastSeenAt: string | null,
  {
    deliveredAt,
    receivedAt,
    begunAt,
    channel,
  }: Pick<ShownExecution, 'deliveredAt' | 'receivedAt' | 'begunAt' | 'channel'>,
): string | null {
  return [lastSeenAt, channel === 'amqp' ? null : deliveredAt, receivedAt, begunAt].reduce(
    (last, at) => (last === null || (at !== null && Date.parse(at) > Date.parse(last)) ? at : last),
    null,
  );
}

/** The parts of an agent's state that can keep a queued execution from being delivered. */
interface AgentOfQueue {
  status: string;
  lastSeenAt: string | null;
  hold: object | null;
}

/**
 * Returns why a queued execution is not delivered even when its turn comes; null if nothing prevents it. An agent that
 * takes plans from the broker does not poll the portal, so its silence says nothing.
 */
export function obstacleOf(
  { channel }: Pick<ShownExecution, 'channel'>,
  { status, lastSeenAt, hold }: AgentOfQueue,
): 'held' | 'noMachine' | 'silent' | null {
  if (hold !== null) return 'held';
  if (channel === 'amqp') return null;
  if (lastSeenAt === null) return 'noMachine';
  return status === 'unresponsive' ? 'silent' : null;
}

/**
 * Whether the machine of an execution that was delivered is not responding, so that it is unknown whether the execution
 * is running. An agent that takes plans from the broker does not poll the portal, so its silence says nothing.
 */
export const isQuiet = (
  { channel, deliveredAt }: Pick<ShownExecution, 'channel' | 'deliveredAt'>,
  agent: Pick<AgentOfQueue, 'status'> | undefined,
): boolean => channel !== 'amqp' && deliveredAt !== null && agent?.status === 'unresponsive';
