import { judgeStep } from '#server/domain/rollout-rules/judge-step.ts';
import { kindAt } from '#server/domain/rollout-rules/kinds.ts';
import type { StepOutcome } from '#server/domain/rollout-rules/step-facts.ts';
import { markSeconds, secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { repeatSteps, restoreSteps } from './attempt-again.ts';
import { type FactedStep, loadOpenSteps } from './load-steps.ts';
import { type Pass, setStep } from './pass.ts';
import { isRun } from './runs/order-of.ts';
import { settleRuns } from './runs/settle-runs.ts';
import { failureAfter } from './step-failure.ts';
import { applied, stepRules } from './step-rules.ts';
import { takeBack } from './take-back.ts';
import { flushSteps } from './write-steps.ts';

/** Maximum number of steps that one pass judges. */
const atOnce = 2_000;

/**
 * Judges the steps that are due or whose VM changed, and applies the results: takes goal states back,
 * repeats them, or restores earlier ones.
 */
export async function settle(pass: Pass): Promise<void> {
  const { tx, ctx, row } = pass;
  if (isRun(pass)) return settleRuns(pass, atOnce);
  const steps = await loadOpenSteps(tx, row, ctx.now, atOnce);
  const acts: Record<NonNullable<StepOutcome['act']>, FactedStep[]> = { recall: [], repeat: [], restore: [] };
  const judged = new Map<string, StepOutcome>();
  let marked = 0;
  for (const one of steps) {
    const outcome = judgeStep(
      { ...one.step, kind: kindAt(one.step.kind) },
      one.facts,
      stepRules(pass, one.step),
      ctx.now,
    );
    if (one.facts.isMarked && outcome.dueAt?.getTime() === secondsAfter(ctx.now, markSeconds).getTime()) marked += 1;
    if (outcome.act === null) {
      const failure = failureAfter(one.step, outcome, one.failure);
      setStep(pass, one.step.state, applied({ ...one.step, failure }, outcome, ctx.now));
    } else {
      acts[outcome.act].push(one);
      judged.set(one.step.vmId, outcome);
    }
  }
  // Closed steps release their disruption groups before others may take them.
  await flushSteps(pass);
  pass.hasMore ||= steps.length === atOnce;
  // A few VMs are always about to be evaluated. If they are most of those to judge, health is behind.
  pass.isBehind = pass.hasMore || (marked > 0 && marked * 2 >= steps.length);
  const outcomeOf = ({ step }: FactedStep) => judged.get(step.vmId);
  await takeBack(pass, acts.recall, (one) => (outcomeOf(one)?.cause === 'on-hold' ? 'on-hold' : 'not-fetching'));
  await repeatSteps(pass, acts.repeat);
  await restoreSteps(
    pass,
    acts.restore.map((one) => ({ ...one, cause: outcomeOf(one)?.cause ?? null })),
  );
  await flushSteps(pass);
}
