import { mkdirSync } from 'node:fs';
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
import { CallError } from './call-error.ts';
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
import { placeFile, unavailable } from './place-file.ts';
import { startProcess } from './run-process.ts';

/** A substitute for no time limit, in seconds. A Node.js timer cannot wait much longer. */
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

/** Calls the scripts of one execution. Each script is loaded once, at its first call (MU-5). */
export class ScriptCalls {
  private readonly context: ExecutionContext;
  private readonly loaded = new Map<string, LoadedScript>();

  constructor(context: ExecutionContext) {
    this.context = context;
  }

  /** Ends the host processes of the scripts. */
  async end(): Promise<void> {
    await Promise.all([...this.loaded.values()].map((script) => script.end()));
  }

  /** Runs a call to its end. If the call fails, `callErrorOf` converts the error for the Body. */
  async call(call: ScriptCall): Promise<CallAnswer> {
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
    const context = this.contextOf(call, options, {
      onOut: (chunk) => {
        lines[0]?.write(chunk);
        stdout.write(chunk);
      },
      onErr: (chunk) => {
        lines[1]?.write(chunk);
        stderr.write(chunk);
      },
    });
    try {
      const result = await loaded.call(call.function, context);
      for (const each of lines) each.end();
      if (!('end' in result)) return { frame: `"value":${result.value}` };
      return answerOf(call, options, { ...result, seconds: context.seconds, stdout, stderr });
    } catch (error) {
      throw this.withOutput(error, stdout, stderr);
    } finally {
      for (const each of lines) each.end();
    }
  }

  private async load(name: string, script: PlanScript): Promise<LoadedScript> {
    const { plan, folders, found, environment, signal } = this.context;
    const executor = executors.find(({ type }) => type === script.type);
    const platform = found.platforms.get(script.type);
    if (executor === undefined || platform === undefined) {
      throw new CallError('ScriptError', `This machine has nothing that runs ${script.type}.`, { code: 3 });
    }
    const number = [...plan.scripts.keys()].indexOf(name);
    const folder = join(folders.scripts, String(number + 1), 'files');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    for (const id of new Set([...script.files, script.entryPoint])) {
      const file = plan.files.get(id);
      if (file !== undefined) placeFile(id, file, join(folder, file.name), id === script.entryPoint ? 0o755 : 0o644);
    }
    const entry = plan.files.get(script.entryPoint);
    const onDisk: ScriptOnDisk = {
      ...{ name, script, folder, environment, program: platform.program },
      entry: entry === undefined ? '' : join(folder, entry.name),
      python: found.python?.program ?? null,
      startHost: (host) =>
        startProcess({
          ...{ ...host, cwd: folder, running: folders.running, environment, signal },
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

  private contextOf(
    call: ScriptCall,
    options: ExecutorOptions,
    output: Pick<ScriptCallContext, 'onOut' | 'onErr'>,
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
        const started = await startProcess({
          ...{ running: folders.running, program, args, stdin, seconds, signal, ...output },
          cwd: join(folders.scripts, String(number + 1), 'files'),
          environment: { ...environment, ...variables, ...own },
          onOut: (chunk) => {
            output.onOut(chunk);
            onOut?.(chunk);
          },
        });
        return started.ended;
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

function formatted(call: ScriptCall, format: string): string {
  const parsed = parseFormat(format);
  return 'value' in parsed ? fillFormat(parsed.value, call.args) : '';
}

interface Ended extends EndedCall {
  seconds: number;
  stdout: Captured;
  stderr: Captured;
}

function answerOf(call: ScriptCall, options: ExecutorOptions, ended: Ended): CallAnswer {
  const { script, function: fn } = call;
  const { end, seconds, stdout, stderr, goodCodes = [0] } = ended;
  const output = { stdout: stdout.text, stderr: stderr.text };
  const info = { script, function: fn, exitCode: end.exitCode, ...output };
  if (end.why === 'time') {
    const message = `The time of ${script} was over: it had ${seconds} s.`;
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
  const message = error instanceof Error ? error.message : String(error);
  return new CallError('ScriptError', `${call.script} could not be called: ${message}.`, { info });
}
