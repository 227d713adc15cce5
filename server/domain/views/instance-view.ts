import type { ExtensionGoal, RefusedFile, RestartRequest } from '#db/schema/index.ts';
import type { HandlerReport, StatusWord } from '#protocol/index.ts';
import type { LocalizedMessage } from '#server/domain/localization/index.ts';
import type {
  AgentStatus,
  Explanation,
  ExtensionHealth,
  HealthCause,
  HeartbeatVerdict,
  Notice,
  VmHealth,
} from '#server/domain/verdicts/index.ts';
import type { RefusalCode } from '#server/domain/vms/index.ts';

/** All reports of a VM beside its goal (AZ-S6). Times are ISO 8601, ages in seconds. */
export interface InstanceView {
  vmId: string;
  name: string;
  incarnation: number;
  publishedAt: string | null;
  /** The newest goal state that was sent to the agent; 0 if none was. */
  deliveredIncarnation: number;
  deliveredAt: string | null;
  agent: AgentView;
  /** Worst first, then by name. */
  extensions: ExtensionInstance[];
  /** Null without a pending restart. */
  pendingRestart: PendingRestartView | null;
  health: VmHealth;
  /** Why the VM is not done, or degraded; null if neither, and before the agent's first call. */
  explanation: Explanation | null;
  /** The languages of the messages, for `Content-Language`. */
  languages: string[];
}

export interface AgentView {
  status: AgentStatus;
  lastSeenAt: string | null;
  /** The latest time of its promised call. */
  nextExpectedAt: string | null;
  name: string | null;
  version: string | null;
  /** The agent's clock minus the portal's. */
  clockSkewSeconds: number | null;
  enrolledAt: string | null;
  /** When a second machine with this VM's identity was rejected. */
  duplicateSeenAt: string | null;
  /** Rejected calls and exceeded limits of the last day, the last of each kind, newest first. */
  refusals: Refusal[];
  /** Since when a stock agent is on hold, and who set it; null if it is not. */
  hold: { at: string; by: string } | null;
  /** Problems that the agent reported and that still last, newest first; for operators only. */
  problems?: AgentProblemView[];
}

export interface Refusal {
  code: RefusalCode;
  at: string;
  /** The exceeded limit. */
  limitBytes?: number;
  /** With `history_cleared`: the time of the oldest stored report. */
  keptFrom?: string;
}

/** Installs that are complete only after a restart of the machine (AZ-G8). */
export interface PendingRestartView {
  since: string;
  /** The requesting handlers, oldest first. */
  requests: RestartRequest[];
}

export interface AgentProblemView {
  /** An extension's name, or `goal-state`. */
  about: string;
  /** In the agent's words. */
  message: string;
  at: string;
}

export interface ExtensionInstance {
  name: string;
  handler: string;
  goalVersion: string;
  /** As reported by the agent; null if absent. */
  version: string | null;
  goal: ExtensionGoal;
  goalSequenceNumber: number;
  dependsOn: string[];
  changedAt: string;
  changedBy: string;
  /** When this sequence number was sent to the agent. */
  deliveredAt: string | null;
  /** Its deadline; null once it is concluded or has failed. */
  deadlineAt: string | null;
  /** The first success or error of the goal's sequence number. */
  concludedAt: string | null;
  concludedWith: 'success' | 'error' | null;
  /** Whether the goal was reached: success was reported for it, or it is disabled as declared. */
  done: boolean;
  /**
   * The only copy of its protected settings was for a former certificate: it is not delivered until they are entered
   * again.
   */
  needsSecrets: boolean;
  /** Its protected settings are withheld from the machine's key: it is not delivered until an admin releases them. */
  needsRelease: boolean;
  handlerState: HandlerStateView | null;
  heartbeat: HeartbeatView;
  status: StatusView | null;
  /** The last status file, if it broke the contract; `status` is the one before it. */
  refusedStatus: RefusedFile | null;
  /** The last heartbeat file, likewise. */
  refusedHeartbeat: RefusedFile | null;
  health: ExtensionHealth;
  /** The cause of the health; null if nothing is wrong. */
  cause: HealthCause | null;
  /** Whether it progresses only in that it waits for another extension. */
  waiting: boolean;
  /** The portal's message; null if the handler's own message applies. */
  notice: Notice | null;
  /** The first substatus with an error under another status: the reason where `cause` is `substatus`. */
  failedPart: Pick<SubstatusView, 'name' | 'operation' | 'code' | 'message'> | null;
}

export interface HandlerStateView {
  state: HandlerReport['state'];
  command: HandlerReport['command'] | null;
  sequenceNumber: number;
  exitCode: number | null;
  timedOut: boolean;
  /** Whether the last command ended without success. */
  failed: boolean;
  attempt: number | null;
  /** The end of the command's output; for operators only. */
  outputTail?: string | null;
  /** The extension that this one waits for. */
  blockedBy: string | null;
  at: string | null;
}

export interface HeartbeatView {
  verdict: HeartbeatVerdict;
  /** The file's age now, if it has not changed since it was read. */
  ageSeconds: number | null;
  code: number | null;
  message: LocalizedMessage | null;
  /** When the agent read the file, on the portal's clock. */
  readAt: string | null;
  /** When the next reading is due, without the grace period. */
  nextReadingAt: string | null;
}

export interface SubstatusView {
  name: string | null;
  operation: string | null;
  status: StatusWord;
  code: number | null;
  message: LocalizedMessage | null;
  substatus: SubstatusView[];
}

export interface StatusView extends SubstatusView {
  /** Parts that do not fit, on all levels: a view has 4 MiB for handlers' messages. */
  omittedSubstatuses: number;
  sequenceNumber: number;
  configurationAppliedTime: string | null;
  timestampUTC: string | null;
  stale: boolean;
  staleSeconds: number;
  readAt: string | null;
}
