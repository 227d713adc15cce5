import type { ExecutionPlan } from '#protocol/executions/index.ts';
import type { Journal } from '../journal.ts';
import type { PlanFiles } from './files/plan-files.ts';
import type { StoredProgress } from './inbox.ts';
import type { FoundPlatforms } from './platforms.ts';
import type { ReplayedOutput } from './replayed-output.ts';
import type { Transcript } from './transcript.ts';

/** The folders that the calls of an execution use. */
export interface ExecutionFolders {
  root: string;
  scripts: string;
  work: string;
  running: string;
  /** Folder with the state of each Service. */
  states: string;
}

/** The context that the calls of one execution share. */
export interface ExecutionContext {
  id: string;
  plan: ExecutionPlan;
  /** The `SourceID` of results and log messages. */
  planId: string;
  folders: ExecutionFolders;
  transcript: Transcript;
  journal: Journal;
  /** Texts that are masked in everything that leaves the machine. */
  secrets: readonly string[];
  /** The `Tag` of log messages. */
  tag: string;
  found: FoundPlatforms;
  files: PlanFiles;
  /** The environment of processes, without the variables that a call adds. */
  environment: Record<string, string>;
  /** Id of the current boot. */
  boot: string;
  /** Whether the agent can restart the machine. */
  canReboot: boolean;
  /** Determines which output of the Body is new. */
  output: ReplayedOutput;
  progress: StoredProgress;
  /** Stores the progress. Throws if the disk is full. */
  saveProgress(): void;
  /** Called when the execution begins to wait for a restart of the machine. */
  onRestarting(): void;
  /** Returns the number of seconds until the execution times out. */
  secondsLeft(): number;
  /** Aborted when the execution ends. */
  signal: AbortSignal;
  /** Aborted when the agent stops. Processes of calls then continue. */
  leaving: AbortSignal;
  /** Aborted when `signal` or `leaving` is aborted. */
  ended: AbortSignal;
}

/** Requests of a Body that take effect when the Body ends. */
export interface EndWishes {
  /** Argument of `api.setExitCode`; null if the Body has not called this function. */
  exitCode: number | null;
  reboot: boolean;
}
