import type { FormatArguments, PlanScript } from '#protocol/executions/index.ts';
import type { ProcessEnd, ProcessStart, StartedProcess } from '../run-process.ts';

/** A program that runs scripts, and its version. */
export interface FoundPlatform {
  version: string;
  /** Path of the program; empty if scripts are programs themselves. */
  program: string;
}

/** A script whose files are in its folder. */
export interface ScriptOnDisk {
  name: string;
  script: PlanScript;
  /** The working directory of its processes. */
  folder: string;
  /** Path of the entry point; empty if it is a name such as `module::class`. */
  entry: string;
  program: string;
  /** Python, which some executors need for their host process; null if the machine has none. */
  python: string | null;
  /** Environment of its processes, without what a call adds. */
  environment: Record<string, string>;
  /** Starts a process that lives as long as the execution, or until `endAll`. */
  startHost(start: Pick<ProcessStart, 'program' | 'args' | 'onOut' | 'onErr'>): Promise<StartedProcess>;
}

/** One call of a script. */
export interface ScriptCallContext {
  args: FormatArguments;
  /** Environment and standard input of this call, by the script's options. */
  environment: Record<string, string>;
  stdin: string | undefined;
  /** How long the call may take. */
  seconds: number;
  /** Aborted when the execution ends. */
  signal: AbortSignal;
  /** Runs a program to its end in the script's folder. */
  run(program: string, args: readonly string[], environment?: Record<string, string>): Promise<ProcessEnd>;
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
}

/** What a call gave: the end of a process, or a value as JSON text. */
export type CallResult = { end: ProcessEnd } | { value: string };

/** A script that can be called. */
export interface LoadedScript {
  /** Calls the script as a whole, or one of its functions. Throws CallError. */
  call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult>;
  /** Ends what lives as long as the execution. Resolves when it has ended. */
  end(): Promise<void>;
}

/** Runs the scripts of one platform (MU-4). */
export interface Executor {
  type: string;
  /** Returns the program on this machine; null if it has none. */
  find(environment: Record<string, string>): Promise<FoundPlatform | null>;
  /** Prepares a script, once for each execution. Throws CallError if it can be seen that it cannot run. */
  load(script: ScriptOnDisk): Promise<LoadedScript>;
}
