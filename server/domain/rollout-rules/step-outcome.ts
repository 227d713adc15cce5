import type { OpenStep, StepOutcome, StepRules } from './step-facts.ts';
import { fetchSeconds, secondsAfter } from './step-times.ts';

/** The values of a step that change. */
export type Changes = Partial<StepOutcome>;

/** Returns the outcome of a step: what does not change stays. A step without `dueAt` is not open. */
export const outcomeOf = (step: OpenStep, changes: Changes): StepOutcome => ({
  state: step.state,
  cause: step.cause,
  dueAt: null,
  healthyAt: step.healthyAt,
  breaks: step.breaks,
  concludedAt: step.concludedAt,
  deliveredAt: step.deliveredAt,
  overtakenBy: null,
  act: null,
  ...changes,
});

/**
 * Returns the outcome of a step that failed: its next attempt, its earlier goal, or the failure. `isFinal`: there is no
 * further attempt.
 */
export function failedStep(
  step: OpenStep,
  cause: string,
  { retry, onStepFailure, stage }: Pick<StepRules, 'retry' | 'onStepFailure' | 'stage'>,
  now: Date,
  isFinal = false,
): StepOutcome {
  const failed = { cause, healthyAt: null };
  if (step.state === 'reverting') return outcomeOf(step, { state: 'stuck' });
  const mayRetry = !isFinal && stage === 'running' && step.attempt <= retry.times && retry.causes.includes(cause);
  if (mayRetry) {
    const dueAt = secondsAfter(now, retry.afterSeconds * 2 ** Math.max(0, step.attempt - 1));
    return outcomeOf(step, { ...failed, state: 'retrying', dueAt, concludedAt: null, breaks: 0 });
  }
  if (onStepFailure === 'revert' && stage !== 'aborting') {
    const dueAt = secondsAfter(now, fetchSeconds);
    return outcomeOf(step, { ...failed, state: 'reverting', act: 'restore', dueAt, concludedAt: null, breaks: 0 });
  }
  return outcomeOf(step, { ...failed, state: 'failed' });
}
