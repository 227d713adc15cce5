import { type ExecutionState, errorCodes, finalStates, waitingStates } from '#protocol/executions/index.ts';
import type { AgentStatus } from '#server/domain/verdicts/words.ts';
import { judgeWaiting } from './judge-step.ts';
import type { OpenStep, StepOutcome, StepRules } from './step-facts.ts';
import { failedStep, outcomeOf } from './step-outcome.ts';
import { callSeconds, fetchSeconds, pausedSeconds, secondsAfter } from './step-times.ts';

/** The execution of a step's latest attempt. */
export interface RunExecution {
  state: ExecutionState;
  errorCode: number | null;
  /** Why the portal ended the execution; null if the machine did. */
  reason: string | null;
  cancelled: { by: string; at: Date } | null;
  concludedAt: Date | null;
  deliveredAt: Date | null;
  /** When the portal ends the execution. */
  dueAt: Date | null;
}

/** What is known about a VM when its step of a run is judged. */
export interface RunFacts {
  exists: boolean;
  decommissioning: boolean;
  agent: AgentStatus;
  isHeld: boolean;
  /** Whether the machine is busy with other work, so that it does not fetch the execution yet. */
  isBusy: boolean;
  /** Seconds since the attempt began in which past holds and other work kept the machine from fetching. */
  pausedSeconds: number;
  /** Null if the execution is deleted. */
  execution: RunExecution | null;
}

type Rules = Pick<StepRules, 'soakSeconds' | 'settleSeconds' | 'retry' | 'stage'>;

/**
 * Decides the outcome of a step that runs a runbook. It succeeds with code 0 and, if the ring requests it, when the
 * agent then stays reachable for `soakSeconds`. A pure function like `judgeStep`.
 */
export function judgeRun(step: OpenStep, facts: RunFacts, rules: Rules, now: Date): StepOutcome {
  const { execution } = facts;
  if (!facts.exists || facts.decommissioning) return outcomeOf(step, { state: 'gone', cause: null });
  if (step.state === 'retrying') return judgeWaiting(step, rules, now);
  if (execution === null) return failedRun(step, 'lost', rules, now);
  if (isIn(waitingStates, execution.state)) return judgeQueued(step, facts, rules, now);
  const { deliveredAt } = execution;
  if (!isIn(finalStates, execution.state)) {
    const end = execution.dueAt ?? now;
    const dueAt = end > now ? end : secondsAfter(now, callSeconds);
    return outcomeOf(step, { state: 'inFlight', deliveredAt: deliveredAt ?? now, dueAt });
  }
  if (execution.state === 'succeeded') return judgeSucceeded({ ...step, deliveredAt }, facts, rules, now);
  return judgeEnded({ ...step, deliveredAt }, execution, rules, now);
}

const isIn = (states: readonly ExecutionState[], state: ExecutionState): boolean => states.includes(state);

/** No machine has the execution. Only the first attempt is taken back: a VM that failed before was reached. */
function judgeQueued(step: OpenStep, facts: RunFacts, rules: Rules, now: Date): StepOutcome {
  if (facts.isHeld && step.attempt <= 1) {
    return outcomeOf(step, { state: 'parked', cause: 'on-hold', act: 'recall' });
  }
  if (facts.isHeld || facts.isBusy) return outcomeOf(step, { dueAt: secondsAfter(now, pausedSeconds) });
  const dueAt = secondsAfter(step.publishedAt ?? now, fetchSeconds + facts.pausedSeconds);
  return now < dueAt ? outcomeOf(step, { dueAt }) : notFetched(step, rules, now);
}

/** The machine did not fetch the execution in time. */
function notFetched(step: OpenStep, rules: Rules, now: Date): StepOutcome {
  if (step.attempt <= 1) return outcomeOf(step, { state: 'parked', cause: 'not-fetching', act: 'recall' });
  return { ...failedRun(step, step.cause ?? 'silent', rules, now, true), act: 'recall' };
}

function judgeSucceeded(step: OpenStep, facts: RunFacts, rules: Rules, now: Date): StepOutcome {
  const healthyAt = step.healthyAt ?? facts.execution?.concludedAt ?? now;
  const succeeded = outcomeOf(step, { state: 'succeeded', cause: null, healthyAt, concludedAt: healthyAt });
  const soakEnd = secondsAfter(healthyAt, rules.soakSeconds);
  if (rules.soakSeconds === 0 || rules.stage === 'aborting') return succeeded;
  if (facts.agent === 'unresponsive' && !facts.isHeld) return failedRun(step, 'silent', rules, now);
  if (now >= soakEnd && facts.agent === 'ready') return succeeded;
  if (now >= secondsAfter(soakEnd, rules.settleSeconds)) return failedRun(step, 'silent', rules, now);
  const dueAt = now < soakEnd ? soakEnd : secondsAfter(now, callSeconds);
  return outcomeOf(step, { state: 'soaking', cause: null, healthyAt, concludedAt: healthyAt, dueAt });
}

/** Causes of executions that never ran: the member's turn comes again. */
const untouched: readonly (string | null)[] = ['execution.machine-replaced', 'execution.recalled'];

/** The execution ended without success. */
function judgeEnded(step: OpenStep, execution: RunExecution, rules: Rules, now: Date): StepOutcome {
  const { state, reason, cancelled, deliveredAt } = execution;
  if (state === 'expired') return notFetched(step, rules, now);
  if (deliveredAt === null && untouched.includes(reason) && step.attempt <= 1) {
    return outcomeOf(step, { state: 'recalled', cause: null, act: 'recall' });
  }
  const failed = failedRun(step, causeOf(execution), rules, now);
  if (state !== 'cancelled' || cancelled === null) return failed;
  const overtakenBy = { by: cancelled.by, action: 'execution.cancel', at: cancelled.at.toISOString() };
  return { ...failed, overtakenBy };
}

function causeOf({ state, errorCode, cancelled }: RunExecution): string {
  if (state === 'timed-out' || (state === 'failed' && errorCode === errorCodes.timeout)) return 'timeout';
  if (state === 'lost') return 'lost';
  if (state === 'cancelled') return cancelled === null ? 'not-run' : 'cancelled';
  return errorCode === null ? 'plan-fault' : `code:${errorCode}`;
}

/** The cause for which a rollout's retries are requested, if the runbook ended with this one. */
const retryCause = (cause: string): string =>
  cause.startsWith('code:') ? 'exit' : cause === 'lost' ? 'silent' : cause;

/** A failed run is retried as the rollout specifies; nothing is reverted. */
function failedRun(step: OpenStep, cause: string, rules: Rules, now: Date, isFinal = false): StepOutcome {
  const causes = rules.retry.causes.includes(retryCause(cause)) ? [cause] : [];
  const retry = { ...rules.retry, causes };
  return failedStep(step, cause, { retry, onStepFailure: 'leave', stage: rules.stage }, now, isFinal);
}
