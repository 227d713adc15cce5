import type { CommandName, ExtensionTarget, HandlerReport, StatusWord } from '#protocol/index.ts';

/** Who requested a change, and when (ISO 8601). */
export interface Requested {
  by: string;
  at: string;
}

/** An extension of a goal state, as far as the queue depends on it. */
export interface QueuedTarget extends ExtensionTarget {
  sequenceNumber: number;
  timeouts: Readonly<Record<CommandName, number>>;
  /** The last change that the handler must run for. */
  asked: Requested;
  /** Install runs after an update to this version. */
  installsInUpdate: boolean;
}

/** A goal state of a VM, as far as the queue depends on it. */
export interface QueuedGoal {
  turn: number;
  asked: Requested;
  /** When it was delivered; null if the agent does not have it yet. */
  deliveredAt: string | null;
  /** Extensions whose settings the agent has or gets. */
  extensions: readonly QueuedTarget[];
}

/** What was last reported about an extension. */
export interface ReportedExtension {
  name: string;
  handler: string;
  /** The last command or state; null before the first. */
  report: Omit<HandlerReport, 'output'> | null;
  /** Whether its command has ended; its output is part of that report alone. */
  hasOutput: boolean;
  /** When it arrived, ISO 8601. */
  reportedAt: string | null;
  /** The last status, and its sequence number. */
  status: { word: StatusWord; sequenceNumber: number } | null;
}

/** Everything from which the queue of a VM is computed. */
export interface QueueFacts {
  /** The goal state that the agent works on, or takes up next. */
  goal: QueuedGoal;
  /** A newer one that is withheld until the hold ends. */
  heldGoal: QueuedGoal | null;
  reports: readonly ReportedExtension[];
  /** Why the agent begins nothing at all; null if it can. */
  stopped: { code: 'never' | 'silent'; since: string | null } | null;
  /** Handlers whose extensions are enabled once the agent has restarted the machine. */
  restarting: readonly string[];
  /** Declared extensions that are not part of a goal state, because the agent does not get their settings. */
  withheld: readonly { name: string; code: 'secrets' | 'release'; asked: Requested }[];
}
