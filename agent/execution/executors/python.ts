import { commandArguments } from './command-arguments.ts';
import type { CallResult, Executor, LoadedScript, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { findProgram, probe } from './probe.ts';
import { pythonHostProgram } from './python-host.py.ts';
import { type HostProgram, ScriptHost } from './script-host.ts';

/** Finds the Python with this name or path; null if there is none, or if it is older than 3.6. */
export async function findPython(name: string, environment: Record<string, string>) {
  const program = findProgram(name, environment.PATH);
  if (program === null) return null;
  const args = ['-I', '-S', '-c', 'import sys; print("annex", ".".join(map(str, sys.version_info[:3])))'];
  const version = await probe(program, args, /^annex (3\.(?:[6-9]|\d\d)\.\d+)\n?$/, environment);
  return version === null ? null : { version, program };
}

const options = ['-B', '-u', '-X', 'utf8'];

const host: HostProgram = {
  text: pythonHostProgram,
  extension: 'py',
  argumentsFor: (program, entry) => [...options, program, entry],
};

/** The executor for Python. Runs whole files in new processes, and all functions of a script in one host process. */
export const python: Executor = {
  type: 'Python',
  find: (environment) => findPython('python3', environment),
  load: async (script) => new PythonScript(script),
};

class PythonScript implements LoadedScript {
  private readonly script: ScriptOnDisk;
  private host: ScriptHost | null = null;

  constructor(script: ScriptOnDisk) {
    this.script = script;
  }

  async call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
    if (fn !== null) return this.callFunction(fn, ctx);
    const args = [...options, this.script.entry, ...commandArguments(ctx.args)];
    return { end: await ctx.run(this.script.program, args) };
  }

  async end(): Promise<void> {
    this.host?.end();
    await this.host?.ended;
  }

  private async callFunction(fn: string, ctx: ScriptCallContext): Promise<CallResult> {
    if (this.host === null || this.host.isOver) this.host = await ScriptHost.start(this.script, host);
    return this.host.call(fn, ctx);
  }
}
