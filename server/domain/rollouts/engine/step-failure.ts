import type { StepOutcome } from '#server/domain/rollout-rules/step-facts.ts';
import type { StepFailure } from '#server/domain/rollout-rules/stored.ts';
import type { StepState } from '#server/domain/rollout-rules/words.ts';
import type { StepRow } from './pass.ts';
import type { TouchedRow } from './touched-row.ts';

/** Causes for which the message of the status is the cause itself. */
const statusCauses: readonly (string | null)[] = ['status', 'substatus'];

/**
 * Returns what failed on a VM: the first touched extension whose health failed at the step's sequence number, otherwise
 * the first that is not healthy.
 */
export function failureOf({ touched }: Pick<StepRow, 'touched'>, rows: readonly TouchedRow[]): StepFailure {
  const own = rows.filter(({ name, health }) =>
    touched.some((extension) => extension.name === name && extension.sequenceNumber === health?.sequenceNumber),
  );
  const failed =
    own.find(({ health }) => health?.health === 'failed') ??
    own.find(({ health }) => health?.health !== 'healthy' && health?.health !== 'disabled') ??
    rows[0];
  const health = failed?.health?.health === 'failed' ? failed.health : null;
  const hasMessage = health !== null && (statusCauses.includes(health.cause) || health.isReported === true);
  return {
    extension: failed?.name ?? null,
    handler: failed?.handler ?? null,
    version: failed?.version ?? null,
    command: health?.command ?? null,
    exitCode: health?.exitCode ?? null,
    messageId: hasMessage ? (health.messageId ?? null) : null,
  };
}

const failing: readonly StepState[] = ['failed', 'retrying', 'reverting'];
const watched: readonly StepState[] = ['inFlight', 'soaking'];

/** Returns what a step stores after an outcome: a failure is noted when it is seen, and forgotten by a success. */
export function failureAfter(
  step: Pick<StepRow, 'state' | 'failure'>,
  { state, cause }: Pick<StepOutcome, 'state' | 'cause'>,
  failure: StepFailure,
): StepFailure | null {
  if (state === 'succeeded' || state === 'soaking') return null;
  if (!watched.includes(step.state) || !failing.includes(state)) return step.failure;
  // An agent that is silent says nothing about the extension.
  const isSilent = cause === 'silent';
  return isSilent ? { ...failure, command: null, exitCode: null, messageId: null } : failure;
}
