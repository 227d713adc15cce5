import type { StepExtension } from '#server/domain/rollout-rules/step-facts.ts';

/** A touched extension of a step, as it is declared now, with its stored health. */
export interface TouchedRow {
  name: string;
  handler?: string | null;
  state: 'enabled' | 'disabled' | 'uninstall' | null;
  sequenceNumber: number;
  version: string;
  commands: string[] | null;
  timeouts: Readonly<Record<string, number>> | null;
  changedBy: string;
  changedAt: string;
  /** The act that changed the extension since the step; null if its sequence number is the step's. */
  changedWith: string | null;
  health: ExtensionHealthRow | null;
}

interface ExtensionHealthRow {
  sequenceNumber: number | null;
  command?: string | null;
  exitCode?: number | null;
  messageId?: string | null;
  /** Whether the handler reported an error for the step's sequence number. */
  isReported?: boolean | null;
  health: NonNullable<StepExtension['health']>['health'];
  cause: NonNullable<StepExtension['health']>['cause'];
  since: string;
  deadlineAt: string | null;
}
