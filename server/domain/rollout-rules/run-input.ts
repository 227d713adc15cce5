import { executionLimits } from '#protocol/executions/index.ts';
import type { ChangeInput } from './change-input.ts';
import type { RolloutChange, RunChange } from './stored.ts';

/**
 * Returns what a change of kind `run` runs. The version and the time limits that it leaves out are those of the
 * runbook, which the caller fills in.
 */
export function completeRun(change: ChangeInput): RunChange {
  const { runbook, parameters, secretParameters, timeoutSeconds, validForSeconds } = change;
  return {
    runbook: runbook ?? '',
    parameters: parameters ?? {},
    secretParameters: Object.keys(secretParameters ?? {}).sort(),
    timeoutSeconds: timeoutSeconds ?? executionLimits.timeoutSeconds.usual,
    validForSeconds: validForSeconds ?? executionLimits.validForSeconds.usual,
  };
}

interface Choices {
  silent?: string | undefined;
  onStepFailure?: string | undefined;
  onHalt?: string | undefined;
  gates?: { compare?: unknown } | undefined;
  rings?: readonly { gates?: { compare?: unknown } | undefined }[] | null | undefined;
}

/**
 * Returns the paths of choices that a run has no use for: nothing is declared ahead of a VM's turn, nothing can be
 * reverted , and the health of extensions says nothing about a runbook.
 */
export function unusedByRuns({ silent, onStepFailure, onHalt, gates, rings }: Choices): (string | number)[][] {
  const paths: (string | number)[][] = [];
  if (silent === 'declare') paths.push(['silent']);
  if (onStepFailure === 'revert') paths.push(['onStepFailure']);
  if (onHalt === 'revert') paths.push(['onHalt']);
  if (gates?.compare != null) paths.push(['gates', 'compare']);
  for (const [index, ring] of (rings ?? []).entries()) {
    if (ring.gates?.compare != null) paths.push(['rings', index, 'gates', 'compare']);
  }
  return paths;
}

/** Whether a rollout has secret values that are sealed with it. */
export const hasSecrets = ({ protectedSettings, run }: RolloutChange): boolean =>
  protectedSettings === 'given' || (run !== undefined && run.secretParameters.length > 0);
