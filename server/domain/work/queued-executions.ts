import { type OpenState, openStates } from '#protocol/executions/index.ts';
import type { QueuedExecution, QueueFacts } from './queue-facts.ts';
import type { QueueEntry, QueueReason, VmQueue } from './queue-words.ts';

/**
 * Adds the executions of a VM to the queue of its extensions, in the order in which the agent begins them: an execution
 * begins once each command of the preceding goal state has run, has failed or is waiting.
 */
export function withExecutions({ now: command, next, waiting }: VmQueue, facts: QueueFacts): VmQueue {
  const executions = facts.executions.toSorted((a, b) => a.turn - b.turn);
  const open = executions.find(isOnMachine);
  const entries = executions.filter((one) => one !== open).map((one) => entryOf(one, reasonOf(one, facts)));
  const runnable = entries.filter(({ reason }) => reason === null);
  const [before, after] = [runnable.filter(isEarlier(facts)), runnable.filter((one) => !isEarlier(facts)(one))];
  const queue = {
    next: [...before, ...next, ...after],
    waiting: [...waiting, ...entries.filter(({ reason }) => reason !== null)],
  };
  if (open === undefined) return { now: command, ...queue };
  const entry = entryOf(open, null);
  // While an execution is running, no command runs, so a command that seems to be running has ended without a report.
  if (command === null || open.state === 'running') return { now: entry, ...queue };
  return { now: command, next: [entry, ...queue.next], waiting: queue.waiting };
}

const isOnMachine = ({ state }: QueuedExecution): boolean => openStates.includes(state as OpenState);

/** Whether an execution begins before the goal state: it was queued earlier, and no report is about the goal state. */
const isEarlier =
  ({ goal, reports }: QueueFacts) =>
  ({ turn }: QueueEntry): boolean =>
    (turn ?? 0) < goal.turn && !reports.some(({ report }) => report?.work?.turn === goal.turn);

/** Returns why an execution waits in the portal; null if only earlier work delays it. */
function reasonOf({ state }: QueuedExecution, { stopped, isHeld }: QueueFacts): QueueReason | null {
  if (state === 'waiting-approval') return { code: 'approval', params: {} };
  if (stopped !== null) return { code: stopped.code, params: {} };
  return isHeld ? { code: 'hold', params: {} } : null;
}

function entryOf(execution: QueuedExecution, reason: QueueReason | null): QueueEntry {
  const { id, name, version, turn, asked, begunAt, validUntil, timeoutSeconds, call } = execution;
  return {
    ...{ kind: 'execution', id, name, handler: null, step: null, version, hook: null, call, turn, reason },
    askedBy: asked.by,
    askedAt: asked.at,
    since: begunAt,
    validUntil: isOnMachine(execution) ? null : validUntil,
    limitSeconds: timeoutSeconds,
  };
}
