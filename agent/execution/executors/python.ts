import { join } from 'node:path';
import { executionLimits } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import type { EndReason } from '../../handler/end-after.ts';
import { Frames } from '../body/frames.ts';
import { CallError } from '../call-error.ts';
import { describedEnd } from '../described-end.ts';
import type { StartedProcess } from '../run-process.ts';
import { commandArguments } from './command-arguments.ts';
import type { CallResult, Executor, LoadedScript, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { findProgram, probe } from './probe.ts';
import { pythonHostProgram } from './python-host.py.ts';

/** Finds the Python 3 with this name or path; null if there is none. */
export async function findPython(name: string, environment: Record<string, string>) {
  const program = findProgram(name, environment.PATH);
  if (program === null) return null;
  const args = ['-I', '-S', '-c', 'import sys; print("annex", ".".join(map(str, sys.version_info[:3])))'];
  const version = await probe(program, args, /^annex (3\.\d+\.\d+)$/m, environment);
  return version === null ? null : { version, program };
}

/** The executor for Python. Runs whole files in new processes, and all functions of a script in one host process. */
export const python: Executor = {
  type: 'Python',
  find: (environment) => findPython('python3', environment),
  load: async (script) => new PythonScript(script),
};

class PythonScript implements LoadedScript {
  private readonly script: ScriptOnDisk;
  private host: PythonHost | null = null;

  constructor(script: ScriptOnDisk) {
    this.script = script;
  }

  async call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
    if (fn !== null) return this.callFunction(fn, ctx);
    const args = ['-B', '-u', '-X', 'utf8', this.script.entry, ...commandArguments(ctx.args)];
    return { end: await ctx.run(this.script.program, args) };
  }

  async end(): Promise<void> {
    this.host?.end();
    await this.host?.ended;
  }

  private async callFunction(fn: string, ctx: ScriptCallContext): Promise<CallResult> {
    if (this.host === null || this.host.isOver) this.host = await PythonHost.start(this.script);
    return this.host.call(fn, ctx);
  }
}

/** A Python process that keeps a script loaded. If the process ends early, the next call starts another. */
class PythonHost {
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

  static async start(script: ScriptOnDisk): Promise<PythonHost> {
    const program = join(script.folder, '..', `${script.name.replaceAll(/\W/g, '_').slice(0, 64)}-host.py`);
    writeAtomically(program, pythonHostProgram, 0o644);
    const output: HostOutput = { call: null };
    const process = await script.startHost({
      program: script.program,
      args: ['-B', '-u', '-X', 'utf8', program, script.entry],
      onOut: (chunk) => output.call?.onOut(chunk),
      onErr: (chunk) => output.call?.onErr(chunk),
    });
    return new PythonHost(script.name, process, output);
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<unknown> {
    return this.process.ended;
  }

  async call(fn: string, ctx: ScriptCallContext): Promise<CallResult> {
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
  }

  private resultOf(fn: string, answer: Record<string, unknown>, text: string): CallResult {
    const info = { script: this.name, function: fn };
    if ('unknown' in answer) throw new CallError('ScriptError', `${this.name} has no function ${fn}.`, { info });
    if ('error' in answer) {
      const cause = answer.error as { message?: unknown; type?: unknown };
      const message = `${this.name}.${fn} raised ${String(cause.type)}: ${String(cause.message)}`;
      throw new CallError('ScriptError', message, { info, causes: [cause] });
    }
    if (!text.startsWith('{"value":')) throw new CallError('ScriptError', describedEnd(this.name, null), { info });
    return { value: text.slice('{"value":'.length, text.lastIndexOf('}')) };
  }
}

interface HostOutput {
  call: Pick<ScriptCallContext, 'onOut' | 'onErr'> | null;
}
