import type { StepOutcome, StepRules } from '#server/domain/rollout-rules/step-facts.ts';
import { openSteps, type StepState } from '#server/domain/rollout-rules/words.ts';
import { type Pass, ringAt, type StepRow } from './pass.ts';

/** The rules by which a step of the rollout is judged. */
export function stepRules({ row, rings }: Pass, { ring }: Pick<StepRow, 'ring'>): StepRules {
  const { gates } = ringAt({ rings }, ring).definition;
  const { silent, retry, onStepFailure } = row.definition;
  const stage = row.state === 'aborting' ? 'aborting' : row.state === 'paused' ? 'paused' : 'running';
  return { soakSeconds: gates.soakSeconds, settleSeconds: gates.settleSeconds, silent, retry, onStepFailure, stage };
}

const isOpen = (state: StepState): boolean => (openSteps as readonly StepState[]).includes(state);

/** Returns a step with the values of its outcome. */
export function applied(step: StepRow, outcome: StepOutcome, now: Date): StepRow {
  const { act: _, ...values } = outcome;
  const isDecided = !isOpen(outcome.state) && outcome.state !== 'parked' && outcome.state !== 'recalled';
  return { ...step, ...values, decidedAt: isDecided ? now : null, updatedAt: now };
}
