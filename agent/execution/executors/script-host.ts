import { dirname, join } from 'node:path';
import { executionLimits } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import type { EndReason } from '../../handler/end-after.ts';
import { Frames } from '../body/frames.ts';
import { CallError } from '../call-error.ts';
import { describedEnd } from '../described-end.ts';
import type { StartedProcess } from '../run-process.ts';
import type { CallResult, ScriptCallContext, ScriptOnDisk } from './executor.ts';

/** A program that keeps a script loaded, and calls its functions. */
export interface HostProgram {
  /** Source code of the program. */
  text: string;
  /** Extension of the program's file, such as `py`. */
  extension: string;
  /** Returns the arguments of the interpreter for the path of the program and the path of the script. */
  argumentsFor(program: string, entry: string): string[];
}

/**
 * A process that keeps a script loaded. Reads calls as frames from descriptor 3, and writes answers to descriptor 4. An
 * answer is `{"value": …}`, `{"exit": code}`, `{"error": {…}}`, or `{"unknown": true}` if there is no such function.
 */
export class ScriptHost {
  isOver = false;
  private why: EndReason = 'itself';
  private readonly name: string;
  private readonly process: StartedProcess;
  private readonly frames: Frames;
  private onAnswer: ((frame: Record<string, unknown> | null, text: string) => void) | null = null;
  private readonly output: HostOutput;

  private constructor(name: string, process: StartedProcess, output: HostOutput) {
    this.name = name;
    this.process = process;
    this.output = output;
    const { to, from } = process.frames ?? {};
    if (to === undefined || from === undefined) throw new Error('a host process needs frames');
    this.frames = new Frames({
      ...{ to, from, limit: executionLimits.frameBytes },
      onFrame: (frame, text) => this.onAnswer?.(frame, text),
      onFault: () => this.end(),
    });
    void process.ended.then(() => {
      this.isOver = true;
      this.onAnswer?.(null, '');
    });
  }

  /** Starts the process. It loads the script at the first call. */
  static async start(script: ScriptOnDisk, { text, extension, argumentsFor }: HostProgram): Promise<ScriptHost> {
    const name = `${script.name.replaceAll(/\W/g, '_').slice(0, 64)}-host.${extension}`;
    const program = join(dirname(script.folder), name);
    writeAtomically(program, text, 0o644);
    const output: HostOutput = { call: null };
    const process = await script.startHost({
      program: script.program,
      args: argumentsFor(program, script.entry),
      onOut: (chunk) => output.call?.onOut(chunk),
      onErr: (chunk) => output.call?.onErr(chunk),
    });
    return new ScriptHost(script.name, process, output);
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<unknown> {
    return this.process.ended;
  }

  /** Calls a function of the script, or the whole script if `fn` is null. */
  async call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
    const { args, environment, stdin = null, seconds, signal } = ctx;
    this.output.call = ctx;
    const timer = setTimeout(() => this.end('time'), seconds * 1000);
    const stop = () => this.end('stop');
    signal.addEventListener('abort', stop);
    const frame = { function: fn, args: args.positional, kwargs: args.named, environment, stdin };
    try {
      const answer = new Promise<{ frame: Record<string, unknown> | null; text: string }>((resolve) => {
        this.onAnswer = (answered, text) => resolve({ frame: answered, text });
      });
      this.frames.send(JSON.stringify(frame));
      const { frame: answered, text } = await answer;
      if (answered === null) return { end: { ...(await this.process.ended), why: this.why } };
      this.process.drain();
      return this.resultOf(fn, answered, text);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.onAnswer = null;
      this.output.call = null;
    }
  }

  end(why: EndReason = 'itself'): void {
    if (!this.isOver) this.why = why;
    this.isOver = true;
    this.process.endAll();
    this.frames.close();
  }

  private resultOf(fn: string | null, answer: Record<string, unknown>, text: string): CallResult {
    const info = { script: this.name, function: fn };
    if ('unknown' in answer) throw new CallError('ScriptError', `${this.name} has no function ${fn}.`, { info });
    if ('error' in answer) {
      const cause = answer.error as { message?: unknown; type?: unknown };
      const what = fn === null ? this.name : `${this.name}.${fn}`;
      const message = `${what} raised ${String(cause.type)}: ${String(cause.message)}`;
      throw new CallError('ScriptError', message, { info, causes: [cause] });
    }
    if (Number.isInteger(answer.exit)) {
      return { end: { exitCode: Number(answer.exit), signal: null, why: 'itself' } };
    }
    if (!text.startsWith('{"value":')) throw new CallError('ScriptError', describedEnd(this.name, null), { info });
    return { value: text.slice('{"value":'.length, text.lastIndexOf('}')) };
  }
}

interface HostOutput {
  call: Pick<ScriptCallContext, 'onOut' | 'onErr'> | null;
}
