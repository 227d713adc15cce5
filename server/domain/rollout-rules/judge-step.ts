import { judgeDelivered } from './judge-delivered.ts';
import type { OpenStep, StepFacts, StepOutcome, StepRules } from './step-facts.ts';
import { type Changes, failedStep, outcomeOf } from './step-outcome.ts';
import { fetchSeconds, secondsAfter } from './step-times.ts';
import { isOvertaken } from './watch-health.ts';

export type { OpenStep, StepFacts, StepOutcome, StepRules } from './step-facts.ts';

/**
 * Decides the outcome of a step (RO-17 to RO-20). A pure function: the same facts give the same outcome, and every
 * open outcome has a time at which it is judged next.
 */
export function judgeStep(step: OpenStep, facts: StepFacts, rules: StepRules, now: Date): StepOutcome {
  const outcome = (changes: Changes) => outcomeOf(step, changes);
  if (!facts.exists || facts.decommissioning) return outcome({ state: 'gone', cause: null });
  if (isOvertaken(step, facts)) {
    return outcome({ state: 'overtaken', cause: null, overtakenBy: facts.changedBy });
  }
  const isDelivered = step.incarnation !== null && facts.deliveredIncarnation >= step.incarnation;
  if (step.state === 'retrying') return judgeWaiting(step, rules, now);
  if (step.state === 'parked') {
    // A silent VM keeps its goal state, and is judged when it fetched it.
    if (!isDelivered) return outcome({ state: 'parked' });
    return judgeDelivered({ ...step, state: 'inFlight', cause: null, deliveredAt: null }, facts, rules, now);
  }
  return isDelivered ? judgeDelivered(step, facts, rules, now) : judgeUndelivered(step, facts, rules, now);
}

/** A step that waits for its next attempt. While the rollout is paused or ends, no attempt begins. */
export function judgeWaiting(step: OpenStep, { stage }: Pick<StepRules, 'stage'>, now: Date): StepOutcome {
  const isDue = step.dueAt === null || now >= step.dueAt;
  if (stage === 'aborting' || (isDue && stage === 'paused')) return outcomeOf(step, { state: 'failed' });
  if (isDue) return outcomeOf(step, { state: 'inFlight', act: 'repeat', dueAt: secondsAfter(now, fetchSeconds) });
  return outcomeOf(step, { state: 'retrying', dueAt: step.dueAt });
}

function judgeUndelivered(step: OpenStep, facts: StepFacts, rules: StepRules, now: Date): StepOutcome {
  const dueAt = secondsAfter(step.publishedAt ?? now, fetchSeconds);
  const isLate = now >= dueAt;
  if (step.state === 'reverting') return outcomeOf(step, isLate ? { state: 'stuck' } : { dueAt });
  // A VM that failed before was reached, so it counts by its last attempt that was delivered.
  if (step.attempt > 1)
    return isLate ? failedStep(step, step.cause ?? 'silent', rules, now, true) : outcomeOf(step, { dueAt });
  if (facts.hold !== null) return outcomeOf(step, { state: 'parked', cause: 'on-hold', act: 'recall' });
  if (!isLate) return outcomeOf(step, { dueAt });
  const act = rules.silent === 'declare' ? null : 'recall';
  return outcomeOf(step, { state: 'parked', cause: 'not-fetching', act });
}
