import { succeedsOnDelivery } from './kinds.ts';
import type { OpenStep, StepFacts, StepOutcome, StepRules } from './step-facts.ts';
import { failedStep, outcomeOf } from './step-outcome.ts';
import { callSeconds, earliest, markSeconds, maxBreaks, pausedSeconds, secondsAfter } from './step-times.ts';
import { type Watch, watchHealth } from './watch-health.ts';

/** Decides a step whose goal state the agent received. */
export function judgeDelivered(given: OpenStep, facts: StepFacts, rules: StepRules, now: Date): StepOutcome {
  const step = { ...given, deliveredAt: given.deliveredAt ?? facts.deliveredAt ?? now };
  if (succeedsOnDelivery(step.kind)) {
    return outcomeOf(step, { state: step.state === 'reverting' ? 'reverted' : 'succeeded', healthyAt: now });
  }
  if (rules.stage === 'aborting' && facts.hold !== null) {
    return outcomeOf(step, step.state === 'reverting' ? { state: 'stuck' } : { state: 'unreached', cause: 'on-hold' });
  }
  // The stored health may be older than the latest report.
  if (facts.isMarked) return outcomeOf(step, { dueAt: secondsAfter(now, markSeconds) });
  const watch = watchHealth(step, facts);
  if (watch.result === 'failed') return failedStep(step, watch.cause, rules, now);
  return watch.result === 'healthy'
    ? judgeHealthy(step, watch, facts, rules, now)
    : judgeUnsettled(step, watch, facts, rules, now);
}

type Delivered = OpenStep & { deliveredAt: Date };

/**
 * Returns the time by which a delivered step is decided (RO-19): the deadline of its commands, the time to settle, and
 * three times the time to soak. Pauses that ended do not count.
 */
export function stepEnd(
  { deliveredAt }: Delivered,
  facts: StepFacts,
  { settleSeconds, soakSeconds }: StepRules,
  deadlineAt: Date | null = null,
): Date {
  const deadline = secondsAfter(deliveredAt, facts.deadlineSeconds + closedPauses(facts));
  const from = deadlineAt !== null && deadlineAt > deadline ? deadlineAt : deadline;
  return secondsAfter(from, settleSeconds + 3 * soakSeconds);
}

const closedPauses = ({ heldSeconds, laneBusySeconds }: StepFacts): number => heldSeconds + laneBusySeconds;
const isPaused = ({ hold, laneSince }: StepFacts): boolean => hold !== null || laneSince !== null;

/** The VM is healthy at the step's sequence numbers: it soaks until it was so for long enough. */
function judgeHealthy(
  step: Delivered,
  { since }: Extract<Watch, { result: 'healthy' }>,
  facts: StepFacts,
  rules: StepRules,
  now: Date,
): StepOutcome {
  if (step.state === 'reverting') return outcomeOf(step, { state: 'reverted', healthyAt: now });
  const soaked = step.state === 'soaking' ? step.healthyAt : null;
  // Health that is older than the delivery was of this step only since it was first seen.
  const seen = since !== null && since > step.deliveredAt ? since : now;
  const isBroken = soaked !== null && since !== null && since > soaked;
  const healthyAt = soaked === null || isBroken ? seen : soaked;
  const breaks = step.breaks + (isBroken ? 1 : 0);
  const concludedAt = isBroken ? shifted(step, soaked, healthyAt) : (step.concludedAt ?? healthyAt);
  if (breaks >= maxBreaks) return failedStep({ ...step, breaks }, 'unsteady', rules, now);
  const soaking = (dueAt: Date) =>
    outcomeOf(step, { state: 'soaking', cause: null, dueAt, healthyAt, breaks, concludedAt });
  const succeeded = { state: 'succeeded', cause: null, healthyAt, breaks, concludedAt } as const;
  if (rules.stage === 'aborting') return outcomeOf(step, succeeded);
  const soakEnd = secondsAfter(healthyAt, rules.soakSeconds);
  if (now < soakEnd) return soaking(soakEnd);
  if (isPaused(facts)) return soaking(secondsAfter(now, pausedSeconds));
  if (facts.agentPromiseKept) return outcomeOf(step, succeeded);
  const end = stepEnd(step, facts, rules);
  if (now >= end && facts.agent !== 'ready') return failedStep(step, 'silent', rules, now);
  return soaking(earliest(secondsAfter(now, callSeconds), now < end ? end : secondsAfter(now, callSeconds)));
}

/** Returns when the command concluded, later by the time for which the VM was healthy: that time is not for settling. */
const shifted = ({ concludedAt }: OpenStep, healthyAt: Date, until: Date): Date =>
  secondsAfter(concludedAt ?? healthyAt, Math.max(0, (until.getTime() - healthyAt.getTime()) / 1_000));

/** The VM is neither healthy nor failed: its commands run, or it has until the end of the time to settle. */
function judgeUnsettled(
  step: Delivered,
  { isConcluded, deadlineAt }: Extract<Watch, { result: 'unsettled' }>,
  facts: StepFacts,
  rules: StepRules,
  now: Date,
): StepOutcome {
  const hasBroken = step.state === 'soaking' && step.healthyAt !== null;
  const breaks = step.breaks + (hasBroken ? 1 : 0);
  const state = step.state === 'soaking' ? 'inFlight' : step.state;
  if (breaks >= maxBreaks) return failedStep({ ...step, breaks }, 'unsteady', rules, now);
  const concludedAt =
    hasBroken && step.healthyAt !== null
      ? shifted(step, step.healthyAt, now)
      : (step.concludedAt ?? (isConcluded ? now : null));
  const open = (dueAt: Date) => outcomeOf(step, { state, dueAt, healthyAt: null, breaks, concludedAt });
  if (isPaused(facts)) return open(secondsAfter(now, pausedSeconds));
  const end = stepEnd(step, facts, rules, deadlineAt);
  const settleEnd = concludedAt === null ? end : secondsAfter(concludedAt, rules.settleSeconds + closedPauses(facts));
  if (now >= settleEnd || now >= end) return failedStep({ ...step, breaks, concludedAt }, 'not-healthy', rules, now);
  if (concludedAt !== null) return open(earliest(settleEnd, end));
  const deadline = deadlineAt ?? secondsAfter(step.deliveredAt, facts.deadlineSeconds);
  return open(earliest(end, deadline > now ? deadline : secondsAfter(now, callSeconds)));
}
