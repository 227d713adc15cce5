import type { OpenState, WaitingState } from '#protocol/executions/index.ts';
import type { CommandName, ExtensionTarget, HandlerReport, StatusWord } from '#protocol/index.ts';

/** Who requested a change, and when (ISO 8601). */
export interface Requested {
  by: string;
  at: string;
}

/** The facts about an extension of a goal state that the queue depends on. */
export interface QueuedTarget extends ExtensionTarget {
  sequenceNumber: number;
  timeouts: Readonly<Record<CommandName, number>>;
  /** Who last requested a change for which the handler must run, and when. */
  asked: Requested;
  /** Whether install runs after an update to this version. */
  installsInUpdate: boolean;
}

/** The facts about a goal state that the queue depends on. */
export interface QueuedGoal {
  turn: number;
  asked: Requested;
  /** When the goal state was delivered; null if the agent does not have it yet. */
  deliveredAt: string | null;
  /** Extensions whose settings the agent has or will get. */
  extensions: readonly QueuedTarget[];
}

/** What was last reported about an extension. */
export interface ReportedExtension {
  name: string;
  handler: string;
  /** The last command or state; null before the first report. */
  report: Omit<HandlerReport, 'output'> | null;
  /** Whether the report contains output. Only a report that a command has ended contains output. */
  hasOutput: boolean;
  /** When the report arrived, ISO 8601. */
  reportedAt: string | null;
  /** The last status, and its sequence number. */
  status: { word: StatusWord; sequenceNumber: number } | null;
}

/** An execution that has not ended. */
export interface QueuedExecution {
  id: string;
  /** The name of its plan; empty if the plan has none. */
  name: string;
  version: string;
  state: WaitingState | OpenState;
  turn: number;
  asked: Requested;
  /** When its Body began, ISO 8601; null before. */
  begunAt: string | null;
  /** When it expires if the machine has not received it, ISO 8601. */
  validUntil: string;
  timeoutSeconds: number;
  /** The call that is running. */
  call: { n: number; script: string | null; function: string | null } | null;
}

/** Everything from which the queue of a VM is computed. */
export interface QueueFacts {
  /** The goal state that the agent works on, or will fetch next. */
  goal: QueuedGoal;
  /** A newer goal state that the agent does not get until the hold ends. */
  heldGoal: QueuedGoal | null;
  reports: readonly ReportedExtension[];
  /** Executions that have not ended, by their turn. */
  executions: readonly QueuedExecution[];
  /** Whether the VM is on hold, so that no execution is delivered. */
  isHeld: boolean;
  /** Why the agent cannot start any command; null if it can. */
  stopped: { code: 'never' | 'silent'; since: string | null } | null;
  /** Handlers whose extensions are enabled once the agent has restarted the machine. */
  restarting: readonly string[];
  /**
   * Declared extensions that are missing from the goal state, because their protected settings are missing, withheld,
   * or not encrypted while the VM has no agent.
   */
  withheld: readonly { name: string; code: 'secrets' | 'release' | 'never'; asked: Requested }[];
}
