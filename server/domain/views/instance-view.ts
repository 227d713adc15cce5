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

/** Everything that was reported of a VM beside its goal, in one answer (AZ-S6). Times are ISO 8601, ages in seconds. */
export interface InstanceView {
  vmId: string;
  name: string;
  incarnation: number;
  publishedAt: string | null;
  /** The newest goal state that went out to the agent; 0 where none did. */
  deliveredIncarnation: number;
  deliveredAt: string | null;
  agent: AgentView;
  /** Worst first, then by name. */
  extensions: ExtensionInstance[];
  /** Null if the machine waits for no restart. */
  pendingRestart: PendingRestartView | null;
  health: VmHealth;
  /** Why the VM is not done, or degraded; null where neither is so, and before an agent called. */
  explanation: Explanation | null;
  /** The languages of the messages, for `Content-Language`. */
  languages: string[];
}

export interface AgentView {
  status: AgentStatus;
  lastSeenAt: string | null;
  /** The latest moment at which it promised to call again. */
  nextExpectedAt: string | null;
  name: string | null;
  version: string | null;
  /** The agent's clock minus the portal's. */
  clockSkewSeconds: number | null;
  enrolledAt: string | null;
  /** When a second machine with this VM's identity was refused. */
  duplicateSeenAt: string | null;
  /** Rejected calls and limits exceeded within the last day, the last of each kind, newest first. */
  refusals: Refusal[];
  /** Since when a stock agent processes nothing, and whose doing that is; null where it is not on hold. */
  hold: { at: string; by: string } | null;
  /** What it could not read or do and has not made good since, newest first; for operators only. */
  problems?: AgentProblemView[];
}

export interface Refusal {
  code: RefusalCode;
  at: string;
  /** The limit that was exceeded. */
  limitBytes?: number;
  /** With `history_cleared`: the moment of the oldest report that is kept. */
  keptFrom?: string;
}

/** Installs that are complete only once the machine has restarted (AZ-G8). */
export interface PendingRestartView {
  since: string;
  /** Who asks for it, oldest first. */
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
  /** As the agent reported it; null where it did not. */
  version: string | null;
  goal: ExtensionGoal;
  goalSequenceNumber: number;
  dependsOn: string[];
  changedAt: string;
  changedBy: string;
  /** When this sequence number went out to the agent. */
  deliveredAt: string | null;
  /** Until when it must be concluded; null once it is, or has failed. */
  deadlineAt: string | null;
  /** The first success or error of the goal's sequence number. */
  concludedAt: string | null;
  concludedWith: 'success' | 'error' | null;
  /** Whether the goal was reached: success was reported for it, or it is disabled as declared. */
  done: boolean;
  /** Its protected settings went with a former certificate: it is not delivered until they are entered again. */
  needsSecrets: boolean;
  /** Its protected settings are withheld from the machine's key: it is not delivered until an admin releases them. */
  needsRelease: boolean;
  handlerState: HandlerStateView | null;
  heartbeat: HeartbeatView;
  status: StatusView | null;
  /** The last status file, where it broke the contract; `status` is the one before it. */
  refusedStatus: RefusedFile | null;
  /** The last heartbeat file, likewise. */
  refusedHeartbeat: RefusedFile | null;
  health: ExtensionHealth;
  /** What the health comes from; null where it is as it should be. */
  cause: HealthCause | null;
  /** Whether it progresses only in that it waits for another extension. */
  waiting: boolean;
  /** What the portal says of it; null where the handler's own message counts. */
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
  /** The file's age now, had nobody touched it since it was read. */
  ageSeconds: number | null;
  code: number | null;
  message: LocalizedMessage | null;
  /** When the agent read the file, on the portal's clock. */
  readAt: string | null;
  /** When the next reading is due, without grace. */
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
  /** Parts that the answer has no room for, on all levels: a view holds 4 MiB of what handlers said. */
  omittedSubstatuses: number;
  sequenceNumber: number;
  configurationAppliedTime: string | null;
  timestampUTC: string | null;
  stale: boolean;
  staleSeconds: number;
  readAt: string | null;
}
