import type { FormatArguments, PlanScript } from '#protocol/executions/index.ts';
import type { ProcessEnd, ProcessStart, StartedProcess } from '../run-process.ts';

/** A program that runs scripts, and its version. */
export interface FoundPlatform {
  version: string;
  /** Path of the program; empty if the scripts are programs themselves. */
  program: string;
}

/** A script whose files are on disk. */
export interface ScriptOnDisk {
  name: string;
  script: PlanScript;
  /** Folder of the script's files, and the working directory of its processes. */
  folder: string;
  /** Path of the entry point; empty if the entry point is a name such as `module::class`. */
  entry: string;
  program: string;
  /** Path of Python, which some executors need for their host process; null if the machine has none. */
  python: string | null;
  /** Environment of the script's processes, without the variables that a call adds. */
  environment: Record<string, string>;
  /** Starts a process that runs until `endAll` or until the execution ends. */
  startHost(start: Pick<ProcessStart, 'program' | 'args' | 'onOut' | 'onErr'>): Promise<StartedProcess>;
}

/** What an executor needs for one call of a script. */
export interface ScriptCallContext {
  args: FormatArguments;
  /** Variables from the script's options, filled in with the arguments. */
  environment: Record<string, string>;
  /** Standard input from the script's options, filled in with the arguments. */
  stdin: string | undefined;
  /** Time limit of the call, in seconds. */
  seconds: number;
  /** Aborted when the execution ends. */
  signal: AbortSignal;
  /** Runs a program to completion in the script's folder. The argument `onOut` also receives the standard output. */
  run(
    program: string,
    args: readonly string[],
    environment?: Record<string, string>,
    onOut?: (chunk: Buffer) => void,
  ): Promise<ProcessEnd>;
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
}

/** The end of a process that a call ran. */
export interface EndedCall {
  end: ProcessEnd;
  /** Exit codes that are not failures; by default only 0. */
  goodCodes?: readonly number[];
  /** Additional attributes of the exit code that the Body receives. */
  facts?: Readonly<Record<string, unknown>>;
  /** The value that the Body receives instead of the exit code, as the JSON text of an object. */
  value?: string;
}

/** The result of a call: the end of a process, or a value as JSON text. */
export type CallResult = EndedCall | { value: string };

/** A script that can be called. */
export interface LoadedScript {
  /** Calls the script as a whole, or one of its functions. Throws CallError. */
  call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult>;
  /** Ends the script's host process, if there is one. Resolves when the process has ended. */
  end(): Promise<void>;
}

/** Runs the scripts of one platform (MU-4). */
export interface Executor {
  type: string;
  /** Finds the program of the platform on this machine; null if there is none. */
  find(environment: Record<string, string>): Promise<FoundPlatform | null>;
  /** Prepares a script for the calls of an execution. Throws CallError if the script cannot run. */
  load(script: ScriptOnDisk): Promise<LoadedScript>;
}
