import type { AgentStatus, ExtensionHealth, HealthCause } from '#server/domain/verdicts/words.ts';
import type { MemberKind, SilentRule, StepState } from './words.ts';

/** A step, as far as its judging needs it. `attempt` is 1 for the first attempt. */
export interface OpenStep {
  state: StepState;
  cause: string | null;
  kind: MemberKind;
  attempt: number;
  touched: readonly { name: string; sequenceNumber: number; before: unknown; version: string | null }[];
  incarnation: number | null;
  publishedAt: Date | null;
  deliveredAt: Date | null;
  concludedAt: Date | null;
  healthyAt: Date | null;
  breaks: number;
  /** When a step that waits for its next attempt begins it. */
  dueAt: Date | null;
}

/** The health of an extension, as stored for lists. */
export interface StoredHealth {
  sequenceNumber: number | null;
  health: ExtensionHealth;
  cause: HealthCause | null;
  since: Date;
  deadlineAt: Date | null;
}

/** An extension that a step touched, or that is watched. */
export interface StepExtension {
  name: string;
  /** Null if the extension is not declared. */
  declared: { sequenceNumber: number; state: 'enabled' | 'disabled' | 'uninstalled'; version: string } | null;
  health: StoredHealth | null;
}

/** What is known about a VM when its step is judged. */
export interface StepFacts {
  exists: boolean;
  decommissioning: boolean;
  /** The extensions that the step touched, in any order. */
  extensions: readonly StepExtension[];
  headIncarnation: number;
  /** The latest incarnation that the agent received; 0 before the first one. */
  deliveredIncarnation: number;
  /** When it received this incarnation. */
  deliveredAt: Date | null;
  agent: AgentStatus;
  /** Whether the agent made the call that it announced last. */
  agentPromiseKept: boolean;
  /** Whether the VM's health will be evaluated again, so that the stored one may be out of date. */
  isMarked: boolean;
  hold: { since: Date } | null;
  /** Since when another kind of work has the VM's lane; null if none has. */
  laneSince: Date | null;
  /** Seconds since the publishing in which past holds and other kinds of work paused the VM's deadlines. */
  heldSeconds: number;
  laneBusySeconds: number;
  /** Sum of the timeouts of the step's commands, with the time for reading the status. */
  deadlineSeconds: number;
  /** Who last changed a touched extension after the step. */
  changedBy: { by: string; action: string; at: string } | null;
}

/** The rules of the rollout and ring by which a step is judged. */
export interface StepRules {
  soakSeconds: number;
  settleSeconds: number;
  silent: SilentRule;
  retry: { times: number; afterSeconds: number; causes: readonly string[] };
  onStepFailure: 'leave' | 'revert';
  /** `paused`: no attempt begins. `aborting`: no attempt begins, and steps end as soon as they can. */
  stage: 'running' | 'paused' | 'aborting';
}

/** The outcome of a step. Fields are the step's new values. */
export interface StepOutcome {
  state: StepState;
  cause: string | null;
  /** When the step must be judged next; null if its outcome is final. */
  dueAt: Date | null;
  healthyAt: Date | null;
  breaks: number;
  concludedAt: Date | null;
  deliveredAt: Date | null;
  overtakenBy: { by: string; action: string; at: string } | null;
  /** What the engine must do in the same transaction; the state holds once it is done. */
  act: 'recall' | 'repeat' | 'restore' | null;
}
