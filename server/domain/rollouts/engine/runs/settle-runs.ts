import { finalStates } from '#protocol/executions/index.ts';
import { recallMany } from '#server/domain/executions/index.ts';
import { judgeRun } from '#server/domain/rollout-rules/judge-run.ts';
import { kindAt } from '#server/domain/rollout-rules/kinds.ts';
import type { StepOutcome } from '#server/domain/rollout-rules/step-facts.ts';
import { outcomeOf } from '#server/domain/rollout-rules/step-outcome.ts';
import { fetchSeconds, secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { notBegun } from '../not-begun.ts';
import { type Pass, type StepRow, setStep } from '../pass.ts';
import { applied, stepRules } from '../step-rules.ts';
import { flushSteps } from '../write-steps.ts';
import { type FactedRun, loadOpenRuns, loadQueuedRuns } from './load-runs.ts';
import { orderOf } from './order-of.ts';
import { queueRuns } from './queue-runs.ts';

type Judged = FactedRun & { outcome: StepOutcome };

/**
 * Judges the steps of a run that are due or whose execution changed, takes executions back that no machine fetched, and
 * queues the next attempts. `atOnce` is the maximum number of steps.
 */
export async function settleRuns(pass: Pass, atOnce: number): Promise<void> {
  const { tx, ctx, row } = pass;
  const runs = await loadOpenRuns(tx, row, ctx.now, atOnce);
  const judged = runs.map((one): Judged => {
    const step = { ...one.step, kind: kindAt(one.step.kind) };
    return { ...one, outcome: judgeRun(step, one.facts, stepRules(pass, one.step), ctx.now) };
  });
  for (const { step, outcome } of judged) {
    if (outcome.act === null) setStep(pass, step.state, applied(step, outcome, ctx.now));
  }
  if (runs.length === atOnce) Object.assign(pass, { hasMore: true, isBehind: true });
  await recallRuns(
    pass,
    judged.filter(({ outcome }) => outcome.act === 'recall'),
  );
  // Closed steps release their disruption groups before others may take them.
  await flushSteps(pass);
  await repeatRuns(
    pass,
    judged.filter(({ outcome }) => outcome.act === 'repeat'),
  );
  await flushSteps(pass);
}

/**
 * Takes executions back that no machine has (RO-28). A step whose execution is just being delivered stays open: the next
 * pass looks again.
 */
async function recallRuns(pass: Pass, runs: readonly Judged[]): Promise<void> {
  const { tx, ctx } = pass;
  const waiting = runs.flatMap(({ step: { vmId, executionId } }) =>
    executionId === null ? [] : { vmId, executionId },
  );
  const recalled = await recallMany(tx, ctx, waiting);
  for (const { step, facts, outcome } of runs) {
    const { state: ended } = facts.execution ?? {};
    const isEnded = ended !== undefined && (finalStates as readonly string[]).includes(ended);
    if (!isEnded && !recalled.has(step.executionId ?? '')) continue;
    const { state, cause } = outcome;
    const isAside = state === 'parked' || state === 'recalled';
    const closed = isAside ? { ...notBegun, state, cause, dueAt: null } : applied(step, outcome, ctx.now);
    setStep(pass, step.state, { ...step, ...closed, updatedAt: ctx.now });
  }
}

/** Takes executions back that no machine has, at most `limit`. Returns the number of their steps. */
export async function recallQueued(pass: Pass, limit: number): Promise<number> {
  const runs = await loadQueuedRuns(pass.tx, pass.row.id, pass.ctx.now, limit);
  const recalled = (step: StepRow) =>
    outcomeOf({ ...step, kind: kindAt(step.kind) }, { state: 'recalled', cause: null, act: 'recall' });
  await recallRuns(
    pass,
    runs.map((one) => ({ ...one, outcome: recalled(one.step) })),
  );
  return runs.length;
}

/** Queues the next attempts of failed runs (RO-20). */
async function repeatRuns(pass: Pass, runs: readonly Judged[]): Promise<void> {
  if (runs.length === 0) return;
  const { now } = pass.ctx;
  const found = await orderOf(pass);
  // A version that was just withdrawn pauses the rollout in this pass.
  if ('code' in found) return;
  const queued = await queueRuns(
    pass,
    found.order,
    runs.map(({ step }) => step.vmId),
  );
  for (const { step } of runs) {
    const result = queued.get(step.vmId);
    if (result === undefined || result.outcome === 'busy') continue;
    if (result.outcome === 'queued') {
      setStep(pass, step.state, {
        ...{ ...step, state: 'inFlight', attempt: step.attempt + 1, executionId: result.executionId },
        ...{ publishedAt: now, deliveredAt: null, concludedAt: null, healthyAt: null },
        ...{ dueAt: secondsAfter(now, fetchSeconds), updatedAt: now },
      });
    } else {
      const state = result.outcome === 'gone' ? 'gone' : 'failed';
      setStep(pass, step.state, { ...step, state, dueAt: null, decidedAt: now, updatedAt: now });
    }
  }
}
