import { type Applied, applyMany, type MemberChange, type MemberRequest } from '#server/domain/goal-states/index.ts';
import { fetchSeconds, secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import type { FactedStep } from './load-steps.ts';
import { type Pass, type StepRow, setStep } from './pass.ts';

/** Publishes the next attempts of failed steps (RO-20). */
export async function repeatSteps(pass: Pass, steps: readonly FactedStep[]): Promise<void> {
  const { tx, ctx, row } = pass;
  const requests = steps.map(({ step }) => requestOf(step, { kind: 'repeat', extensions: numbersOf(step) }));
  const results = await applyMany(tx, ctx, requests, { action: 'rollout.retry', rollout: row.id });
  for (const { step } of steps) {
    const result = results.get(step.vmId);
    if (result?.outcome === 'applied') setStep(pass, step.state, published(pass, step, result, 'inFlight'));
    else settleUnpublished(pass, step, result, 'failed');
  }
}

/** Restores the earlier declarations of failed VMs (RO-32). */
export async function restoreSteps(
  pass: Pass,
  steps: readonly (FactedStep & { cause: string | null })[],
): Promise<void> {
  const { tx, ctx, row } = pass;
  const requests = steps.flatMap(({ step }) =>
    step.beforeIncarnation === null
      ? []
      : [
          requestOf(step, {
            kind: 'restore',
            incarnation: step.beforeIncarnation,
            extensions: numbersOf(step),
          }),
        ],
  );
  const results = await applyMany(tx, ctx, requests, { action: 'rollout.revert', rollout: row.id });
  for (const { step, cause, failure } of steps) {
    const result = results.get(step.vmId);
    const failed = { ...step, cause, failure };
    if (result?.outcome === 'applied') setStep(pass, step.state, published(pass, failed, result, 'reverting'));
    else settleUnpublished(pass, failed, result, 'stuck');
  }
}

const numbersOf = ({ touched }: StepRow) => touched.map(({ name, sequenceNumber }) => ({ name, sequenceNumber }));

const requestOf = ({ vmId }: StepRow, change: MemberChange): MemberRequest => ({ vmId, planned: null, change });

/** Returns a step with a new goal state of the same members. */
function published(
  { ctx }: Pass,
  step: StepRow,
  { incarnation, touched }: Extract<Applied, { outcome: 'applied' }>,
  state: 'inFlight' | 'reverting',
): StepRow {
  const changed = step.touched.map((extension) => {
    const now = touched.find(({ name }) => name === extension.name);
    return now ? { ...extension, sequenceNumber: now.sequenceNumber, version: now.version } : extension;
  });
  return {
    ...step,
    state,
    touched: changed,
    incarnation,
    attempt: state === 'inFlight' ? step.attempt + 1 : step.attempt,
    ...{ publishedAt: ctx.now, deliveredAt: null, concludedAt: null, healthyAt: null, breaks: 0 },
    dueAt: secondsAfter(ctx.now, fetchSeconds),
    updatedAt: ctx.now,
  };
}

/** Decides a step whose next goal state could not be published. A VM that is being changed is retried. */
function settleUnpublished(
  pass: Pass,
  step: StepRow,
  result: Applied | undefined,
  otherwise: 'failed' | 'stuck',
): void {
  const { now } = pass.ctx;
  const from = pass.changed.get(step.vmId)?.state ?? step.state;
  const closed = { ...step, dueAt: null, decidedAt: now, updatedAt: now };
  if (result?.outcome === 'busy') return;
  if (result?.outcome === 'gone') setStep(pass, from, { ...closed, state: 'gone', cause: null });
  else if (result?.outcome === 'overtaken') {
    const overtakenBy = { by: result.by, action: result.action, at: result.at.toISOString() };
    setStep(pass, from, { ...closed, state: 'overtaken', cause: null, overtakenBy });
  } else setStep(pass, from, { ...closed, state: otherwise });
}
