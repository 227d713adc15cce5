import { applyMany, type MemberRequest } from '#server/domain/goal-states/index.ts';
import type { ParkedCause } from '#server/domain/rollout-rules/words.ts';
import type { FactedStep } from './load-steps.ts';
import { notBegun } from './not-begun.ts';
import { type Pass, type StepRow, setStep } from './pass.ts';

/**
 * Takes back goal states that no agent has fetched (RO-28): each VM gets what it had before. `causeOf` returns why the
 * step is parked; null if it is only recalled, to begin again first.
 */
export async function takeBack(
  pass: Pass,
  steps: readonly FactedStep[],
  causeOf: (step: FactedStep) => ParkedCause | null,
): Promise<void> {
  const { tx, ctx, row } = pass;
  const requests = steps.flatMap(({ step }) => requestOf(step) ?? []);
  const results = await applyMany(tx, ctx, requests, { action: 'rollout.recall', rollout: row.id });
  for (const one of steps) {
    const { step } = one;
    const result = results.get(step.vmId);
    const closed = { ...step, dueAt: null, updatedAt: ctx.now };
    if (result?.outcome === 'overtaken') {
      const overtakenBy = { by: result.by, action: result.action, at: result.at.toISOString() };
      setStep(pass, step.state, { ...closed, state: 'overtaken', cause: null, overtakenBy, decidedAt: ctx.now });
    } else if (result?.outcome === 'gone') {
      setStep(pass, step.state, { ...closed, state: 'gone', cause: null, decidedAt: ctx.now });
    } else if (result?.outcome === 'applied' || result?.outcome === 'unchanged') {
      setStep(pass, step.state, { ...closed, ...notBegun, ...stateOf(causeOf(one)) });
    }
    // Someone else is changing the VM, or its agent has the goal state: the next pass looks again.
  }
}

const stateOf = (cause: ParkedCause | null): Pick<StepRow, 'state' | 'cause'> => ({
  state: cause === null ? 'recalled' : 'parked',
  cause,
});

function requestOf({ vmId, beforeIncarnation, incarnation, touched }: StepRow): MemberRequest | null {
  if (beforeIncarnation === null || incarnation === null) return null;
  const extensions = touched.map(({ name, sequenceNumber }) => ({ name, sequenceNumber }));
  return {
    vmId,
    planned: null,
    change: { kind: 'restore', incarnation: beforeIncarnation, extensions, undelivered: incarnation },
  };
}
