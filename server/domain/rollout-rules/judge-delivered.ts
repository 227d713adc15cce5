import { succeedsOnDelivery } from './kinds.ts';
import type { OpenStep, StepFacts, StepOutcome, StepRules } from './step-facts.ts';
import { failedStep, outcomeOf } from './step-outcome.ts';
import { callSeconds, earliest, markSeconds, maxBreaks, pausedSeconds, secondsAfter } from './step-times.ts';
import { type HealthWatch, watchHealth } from './watch-health.ts';

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
 * Returns the deadline of the step's commands: its own if that is later than planned. Pauses that ended do not count.
 */
function commandDeadline({ deliveredAt }: Delivered, facts: StepFacts, own: Date | null): Date {
  const planned = secondsAfter(deliveredAt, facts.deadlineSeconds + closedPauses(facts));
  return own !== null && own > planned ? own : planned;
}

/**
 * Returns the time by which a delivered step is decided (RO-19): the deadline of its commands, the time to settle, and
 * three times the time to soak.
 */
export function stepEnd(
  step: Delivered,
  facts: StepFacts,
  { settleSeconds, soakSeconds }: StepRules,
  deadlineAt: Date | null = null,
): Date {
  return secondsAfter(commandDeadline(step, facts, deadlineAt), settleSeconds + 3 * soakSeconds);
}

/** Returns the end of a healthy step. Commands that concluded later than all planned ones had a later deadline. */
function healthyEnd(step: Delivered & { concludedAt: Date }, facts: StepFacts, rules: StepRules): Date {
  const { settleSeconds, soakSeconds } = rules;
  const end = stepEnd(step, facts, rules);
  const own = secondsAfter(step.concludedAt, settleSeconds + soakSeconds);
  return own > end ? secondsAfter(own, closedPauses(facts)) : end;
}

/**
 * Returns when the command of a step that is healthy for the first time concluded: at its deadline at the latest. The
 * deadline was later than planned if the step was not to be judged before the end of the time to settle.
 */
function conclusionOf(step: Delivered, facts: StepFacts, { settleSeconds }: StepRules, healthyAt: Date): Date {
  const planned = commandDeadline(step, facts, null);
  const isLater = step.dueAt !== null && step.dueAt > secondsAfter(planned, settleSeconds);
  return earliest(healthyAt, isLater && step.dueAt !== null ? step.dueAt : planned);
}

const closedPauses = ({ heldSeconds, laneBusySeconds }: StepFacts): number => heldSeconds + laneBusySeconds;
const isPaused = ({ hold, laneSince }: StepFacts): boolean => hold !== null || laneSince !== null;

/** The VM is healthy at the step's sequence numbers: it soaks until it has been healthy for long enough. */
function judgeHealthy(
  step: Delivered,
  { since }: Extract<HealthWatch, { result: 'healthy' }>,
  facts: StepFacts,
  rules: StepRules,
  now: Date,
): StepOutcome {
  if (step.state === 'reverting') return outcomeOf(step, { state: 'reverted', healthyAt: now });
  const soaked = step.state === 'soaking' ? step.healthyAt : null;
  // Health that is older than the delivery counts for this step only from when it was first seen.
  const seen = since !== null && since > step.deliveredAt ? since : now;
  const isBroken = soaked !== null && since !== null && since > soaked;
  const healthyAt = soaked === null || isBroken ? seen : soaked;
  const breaks = step.breaks + (isBroken ? 1 : 0);
  const concludedAt = isBroken
    ? shifted(step, soaked, healthyAt)
    : (step.concludedAt ?? conclusionOf(step, facts, rules, healthyAt));
  if (breaks >= maxBreaks) return failedStep({ ...step, breaks }, 'unsteady', rules, now);
  const soaking = (dueAt: Date) =>
    outcomeOf(step, { state: 'soaking', cause: null, dueAt, healthyAt, breaks, concludedAt });
  const succeeded = { state: 'succeeded', cause: null, healthyAt, breaks, concludedAt } as const;
  if (rules.stage === 'aborting') return outcomeOf(step, succeeded);
  const soakEnd = secondsAfter(healthyAt, rules.soakSeconds);
  const end = healthyEnd({ ...step, concludedAt }, facts, rules);
  if (now < soakEnd && now < end) return soaking(earliest(soakEnd, end));
  if (isPaused(facts)) return soaking(secondsAfter(now, pausedSeconds));
  const isSoaked = now >= soakEnd || (since !== null && now >= secondsAfter(since, rules.soakSeconds));
  if (!isSoaked) return failedStep({ ...step, breaks, concludedAt }, 'not-healthy', rules, now);
  if (facts.agentPromiseKept) return outcomeOf(step, succeeded);
  if (now >= end && facts.agent !== 'ready') return failedStep(step, 'silent', rules, now);
  return soaking(earliest(secondsAfter(now, callSeconds), now < end ? end : secondsAfter(now, callSeconds)));
}

/** Returns when the command concluded, plus the time for which the VM was healthy, which does not count as settling. */
const shifted = ({ concludedAt }: OpenStep, healthyAt: Date, until: Date): Date =>
  secondsAfter(concludedAt ?? healthyAt, Math.max(0, (until.getTime() - healthyAt.getTime()) / 1_000));

/** The VM is neither healthy nor failed: its commands run, or it has until the end of the time to settle. */
function judgeUnsettled(
  step: Delivered,
  { isConcluded, deadlineAt }: Extract<HealthWatch, { result: 'unsettled' }>,
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
  // A command that does not conclude has the time to settle after its deadline, so that a soak still fits.
  const settleEnd =
    concludedAt === null
      ? secondsAfter(commandDeadline(step, facts, deadlineAt), rules.settleSeconds)
      : secondsAfter(concludedAt, rules.settleSeconds + closedPauses(facts));
  if (now >= settleEnd || now >= end) return failedStep({ ...step, breaks, concludedAt }, 'not-healthy', rules, now);
  if (concludedAt !== null) return open(earliest(settleEnd, end));
  const deadline = deadlineAt ?? secondsAfter(step.deliveredAt, facts.deadlineSeconds);
  return open(earliest(settleEnd, deadline > now ? deadline : secondsAfter(now, callSeconds)));
}
