import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ExecutorOptions,
  errorCodes,
  type FormatArguments,
  fillFormat,
  MissingArgument,
  type PlanScript,
  parseFormat,
} from '#protocol/executions/index.ts';
import { sentenceOf } from '../agent-error.ts';
import { isDiskFull, readText } from '../folder/write-file.ts';
import { AgentStopped } from './agent-stopped.ts';
import { CallError } from './call-error.ts';
import { type CallProcessStart, forgetProcess, resumeCallProcess, runCallProcess } from './call-process.ts';
import { Captured } from './captured.ts';
import { describedEnd } from './described-end.ts';
import type { ExecutionContext } from './execution-context.ts';
import { requirePlainText } from './executors/command-arguments.ts';
import {
  type EndedCall,
  executors,
  type LoadedScript,
  type ScriptCallContext,
  type ScriptOnDisk,
} from './executors/index.ts';
import { Lines } from './lines.ts';
import { unavailable } from './place-file.ts';
import type { OutputReaders } from './process-pipes.ts';
import { endLeftovers, type ProcessEnd, startProcess } from './run-process.ts';

/** Effectively no time limit, in seconds. A Node.js timer cannot wait much longer. */
const noLimitSeconds = 2_000_000;

/** A call of a script by a Body. */
export interface ScriptCall {
  n: number;
  script: string;
  function: string | null;
  args: FormatArguments;
}

/** The answer to a call of a Body. */
export interface CallAnswer {
  /** Member of the answering frame, as JSON text such as `"value":1`. */
  frame: string;
  exitCode?: number;
}

/** The process of a call. */
export interface CallProcess {
  id: string;
  /** Whether an earlier run of the agent began the call in the current boot. */
  isResumed: boolean;
}

/** The program of a call. */
type CallProgram = Omit<CallProcessStart, 'id' | 'running' | 'leaving' | keyof OutputReaders> & Partial<OutputReaders>;

/** Where the output of a call goes. */
interface CallOutput extends OutputReaders {
  stdout: Captured;
  stderr: Captured;
}

/** Calls the scripts of one execution. Each script is loaded once, at its first call (MU-5). */
export class ScriptCalls {
  private readonly context: ExecutionContext;
  private readonly loaded = new Map<string, LoadedScript>();
  /** Processes of the current call. Their folders stay until the answer is stored. */
  private processes: string[] = [];

  constructor(context: ExecutionContext) {
    this.context = context;
  }

  /** Ends the host processes of the scripts. */
  async end(): Promise<void> {
    await Promise.all([...this.loaded.values()].map((script) => script.end()));
  }

  /** Deletes the stored data of the processes of the last call. Call this once the call's answer is stored. */
  forget(): void {
    const { folders, journal } = this.context;
    for (const id of this.processes.splice(0)) {
      try {
        forgetProcess(folders.running, id);
      } catch (error) {
        // The folder is deleted with the execution, so the failure does not affect the call.
        journal.warn(`The folder of a process could not be deleted: ${sentenceOf(error)}.`);
      }
    }
  }

  /** Ends a process that an earlier run of the agent started, because the Body no longer makes its call. */
  async endProcess(id: string): Promise<void> {
    await endLeftovers(this.context.folders.running, (each) => !each.startsWith(id));
  }

  /** Returns the answer to a call whose script restarted the machine, as its option `reboots` announced. */
  answerAfterRestart(script: string, fn: string | null, id: string): CallAnswer {
    const options = this.context.plan.scripts.get(script)?.options as ExecutorOptions;
    const [stdout, stderr] = [new Captured(), new Captured()];
    this.processes.push(`${id}-1`);
    keepOutput(join(this.context.folders.running, `${id}-1`), stdout, stderr);
    const end = { exitCode: 0, signal: null, why: 'itself' } as const;
    return answerOf({ script, function: fn }, options, { end, seconds: 0, stdout, stderr });
  }

  /** Runs a call to completion. Throws if the call fails; the caller converts the error with `callErrorOf`. */
  async call(call: ScriptCall, process: CallProcess): Promise<CallAnswer> {
    const script = this.context.plan.scripts.get(call.script);
    if (script === undefined) throw new CallError('ScriptError', `The plan has no script ${call.script}.`);
    const loaded = this.loaded.get(call.script) ?? (await this.load(call.script, script));
    this.loaded.set(call.script, loaded);
    const options = script.options as ExecutorOptions;
    const { transcript, secrets } = this.context;
    const [stdout, stderr] = [new Captured(), new Captured()];
    const lines = (['out', 'err'] as const).map(
      (kind) =>
        new Lines(secrets, (text, goesOn) => {
          if (goesOn) transcript.add(kind, call.n, text, 1);
          else transcript.add(kind, call.n, text);
        }),
    );
    if (process.isResumed) for (const each of lines) each.skipSecret();
    const output = {
      onOut: (chunk: Buffer) => {
        stdout.write(chunk);
        lines[0]?.write(chunk);
      },
      onErr: (chunk: Buffer) => {
        stderr.write(chunk);
        lines[1]?.write(chunk);
      },
    };
    const context = this.contextOf(call, options, {
      ...output,
      run: (start) => this.run(process, start, { ...output, stdout, stderr }),
    });
    try {
      const result = await loaded.call(call.function, context);
      for (const each of lines) each.end();
      if (!('end' in result)) return { frame: `"value":${result.value}` };
      return answerOf(call, options, { ...result, seconds: context.seconds, stdout, stderr });
    } catch (error) {
      if (error instanceof AgentStopped) for (const each of lines) each.leave();
      throw this.withOutput(error, stdout, stderr);
    } finally {
      for (const each of lines) each.end();
    }
  }

  /** Runs a process of a call, or waits for the process that an earlier run of the agent started. */
  private async run(
    { id: first, isResumed }: CallProcess,
    { onOut, ...start }: CallProgram,
    { stdout, stderr, ...output }: CallOutput,
  ): Promise<ProcessEnd> {
    const { folders, leaving } = this.context;
    const { running } = folders;
    const id = `${first}-${this.processes.length + 1}`;
    this.processes.push(id);
    const process: CallProcessStart = {
      ...{ ...start, ...output, id, running, leaving },
      onOut: (chunk) => {
        output.onOut(chunk);
        onOut?.(chunk);
      },
    };
    const folder = join(running, id);
    const digest = digestOf(start);
    if (isResumed && this.processes.length === 1) {
      // An executor may start a different program than before, for example to prepare a script again.
      const isSame = readText(join(folder, 'digest')) === digest;
      if (isSame) {
        keepOutput(folder, stdout, stderr);
        onOut?.(stdout.bytes);
      }
      const end = isSame ? await resumeCallProcess(process) : null;
      if (end !== null) return end;
      await this.endProcess(first);
      stdout.clear();
      stderr.clear();
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'digest'), digest, { mode: 0o600 });
    keepOutput(folder, stdout, stderr);
    return runCallProcess(process);
  }

  private async load(name: string, script: PlanScript): Promise<LoadedScript> {
    const { plan, folders, found, environment, ended } = this.context;
    const executor = executors.find(({ type }) => type === script.type);
    const platform = found.platforms.get(script.type);
    if (executor === undefined || platform === undefined) {
      throw new CallError('ScriptError', `This machine has nothing that runs ${script.type}.`, { code: 3 });
    }
    const number = [...plan.scripts.keys()].indexOf(name);
    const folder = join(folders.scripts, String(number + 1), 'files');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    await this.placeFiles(script, folder);
    const entry = plan.files.get(script.entryPoint);
    const onDisk: ScriptOnDisk = {
      ...{ name, script, folder, environment, program: platform.program },
      entry: entry === undefined ? '' : join(folder, entry.name),
      python: found.python?.program ?? null,
      startHost: (host) =>
        startProcess({
          ...{ ...host, cwd: folder, running: folders.running, environment, signal: ended },
          ...{ frames: true, seconds: noLimitSeconds },
        }),
    };
    try {
      return await executor.load(onDisk);
    } catch (error) {
      if (error instanceof CallError) throw error;
      throw unavailable(script.entryPoint, String(error));
    }
  }

  /** Writes the files of a script, once in each boot: a process that outlived the agent may be reading them. */
  private async placeFiles(script: PlanScript, folder: string): Promise<void> {
    const { plan, boot, files } = this.context;
    const marker = join(folder, '..', 'placed');
    if (readText(marker) === boot) return;
    for (const id of new Set([...script.files, script.entryPoint])) {
      const file = plan.files.get(id);
      if (file === undefined) continue;
      const path = join(folder, file.name);
      if (id === script.entryPoint) await files.copy(id, file, path, 0o755);
      else await files.link(id, file, path);
    }
    writeFileSync(marker, boot);
  }

  private contextOf(
    call: ScriptCall,
    options: ExecutorOptions,
    { run, ...output }: OutputReaders & { run(start: CallProgram): Promise<ProcessEnd> },
  ): ScriptCallContext {
    const { folders, environment, secondsLeft, signal, plan } = this.context;
    const number = [...plan.scripts.keys()].indexOf(call.script);
    const filled = Object.entries(options.environment).map(([name, text]) => [name, formatted(call, text)] as const);
    const own = Object.fromEntries(filled);
    const stdin = options.stdin === undefined ? undefined : formatted(call, options.stdin);
    const seconds = Math.min(options.timeout ?? noLimitSeconds, secondsLeft());
    requirePlainText(call.script, Object.values(own));
    return {
      ...{ args: call.args, environment: own, stdin, seconds, signal, ...output },
      run: async (program, args, variables = {}, onOut = undefined) => {
        requirePlainText(call.script, [...args, ...Object.values(variables)]);
        return run({
          ...{ program, args, stdin, seconds, signal },
          cwd: join(folders.scripts, String(number + 1), 'files'),
          environment: { ...environment, ...variables, ...own },
          onOut,
        });
      },
    };
  }

  /** Adds the captured output to the error of a script, for the Body and for the result. */
  private withOutput(error: unknown, stdout: Captured, stderr: Captured): unknown {
    if (error instanceof MissingArgument) return error;
    if (!(error instanceof CallError) || typeof error.info !== 'object' || error.info === null) return error;
    if (!('script' in error.info)) return error;
    const info = { exitCode: null, stdout: stdout.text, stderr: stderr.text, ...error.info };
    const { type, message, code, stackLines, causes } = error;
    return new CallError(type, message, { code, info, stack: stackLines, causes });
  }
}

function keepOutput(folder: string, stdout: Captured, stderr: Captured): void {
  stdout.keepIn(join(folder, 'stdout'));
  stderr.keepIn(join(folder, 'stderr'));
}

const digestOf = ({ program, args }: Pick<CallProgram, 'program' | 'args'>): string =>
  createHash('sha256')
    .update(JSON.stringify([program, args]))
    .digest('hex');

function formatted(call: ScriptCall, format: string): string {
  const parsed = parseFormat(format);
  return 'value' in parsed ? fillFormat(parsed.value, call.args) : '';
}

interface Ended extends EndedCall {
  seconds: number;
  stdout: Captured;
  stderr: Captured;
}

function answerOf(call: Pick<ScriptCall, 'script' | 'function'>, options: ExecutorOptions, ended: Ended): CallAnswer {
  const { script, function: fn } = call;
  const { end, seconds, stdout, stderr, goodCodes = [0] } = ended;
  const output = { stdout: stdout.text, stderr: stderr.text };
  const info = { script, function: fn, exitCode: end.exitCode, ...output };
  if (end.why === 'time') {
    const message = `${script} exceeded its timeout of ${seconds} s.`;
    throw new CallError('ScriptTimeout', message, { code: errorCodes.timeout, info: { ...info, seconds } });
  }
  const isUnknown = fn !== null && end.exitCode === 127 && output.stderr?.endsWith(`annex: ${fn} is not a function`);
  if (isUnknown) throw new CallError('ScriptError', `${script} has no function ${fn}.`, { info });
  if (end.exitCode === null || (options.verifyExitcode && !goodCodes.includes(end.exitCode))) {
    throw new CallError('ScriptError', describedEnd(script, end), { info });
  }
  if (ended.value !== undefined) {
    return { frame: `"value":${ended.value},"exitCode":${end.exitCode}`, exitCode: end.exitCode };
  }
  const facts = {
    ...ended.facts,
    code: end.exitCode,
    stdout: options.captureStdout ? output.stdout : null,
    stderr: options.captureStderr ? output.stderr : null,
    truncated: stdout.isTruncated || stderr.isTruncated,
  };
  return { frame: `"exit":${JSON.stringify(facts)}`, exitCode: end.exitCode };
}

/** Converts anything that a call threw into a CallError, which the Body can catch. */
export function callErrorOf(call: Pick<ScriptCall, 'script'>, error: unknown): CallError {
  if (error instanceof CallError) return error;
  const info = { script: call.script };
  if (error instanceof MissingArgument) {
    const { argument } = error;
    const what = typeof argument === 'number' ? `an argument ${argument + 1}` : `an argument named ${argument}`;
    return new CallError('ScriptError', `${call.script} needs ${what}.`, { info });
  }
  if (isDiskFull(error)) {
    const why = sentenceOf(error);
    return new CallError('FileUnavailable', `The call could not be stored: ${why}.`, {
      code: 8,
      info: { ...info, why },
    });
  }
  return new CallError('ScriptError', `${call.script} could not be called: ${reasonOf(error)}.`, { info });
}

/** Returns why a process could not start. The kernel limits each of its arguments and variables to 128 KiB. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (Reflect.get(error, 'code') !== 'E2BIG') return error.message;
  return 'Its arguments and environment variables are too large. Pass long values with the option stdin or in a file';
}
