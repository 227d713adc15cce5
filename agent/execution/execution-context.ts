import type { ExecutionPlan } from '#protocol/executions/index.ts';
import type { Journal } from '../journal.ts';
import type { FoundPlatforms } from './platforms.ts';
import type { Transcript } from './transcript.ts';

/** The folders of an execution and of the agent that its calls use. */
export interface ExecutionFolders {
  root: string;
  scripts: string;
  work: string;
  running: string;
  /** Folder with the state of each Service. */
  states: string;
}

/** What the calls of one execution share. */
export interface ExecutionContext {
  id: string;
  plan: ExecutionPlan;
  /** The ID that results and log messages name. */
  planId: string;
  folders: ExecutionFolders;
  transcript: Transcript;
  journal: Journal;
  /** Texts that are masked in everything that leaves the machine. */
  secrets: readonly string[];
  /** The `Tag` of log messages. */
  tag: string;
  found: FoundPlatforms;
  /** The environment of processes, without what a call adds. */
  environment: Record<string, string>;
  /** Seconds until the execution's time is over. */
  secondsLeft(): number;
  /** Aborted when the execution ends. */
  signal: AbortSignal;
}

/** What the Body has requested for its end. */
export interface EndWishes {
  /** X of `api.setExitCode(X)`; null if it was not called. */
  exitCode: number | null;
  reboot: boolean;
}
