import type { CallResult, Executor, LoadedScript, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { powerShellHostProgram } from './power-shell-host.ps1.ts';
import { findProgram, probe } from './probe.ts';
import { type HostProgram, ScriptHost } from './script-host.ts';

const host: HostProgram = {
  text: powerShellHostProgram,
  extension: 'ps1',
  argumentsFor: (program, entry) => ['-NoProfile', '-NonInteractive', '-File', program, entry],
};

/**
 * The executor for PowerShell. One host process runs all calls of a script. The result of a call is the list of objects
 * in the pipeline.
 */
export const powerShell: Executor = {
  type: 'PowerShell',
  async find(environment) {
    const program = findProgram('pwsh', environment.PATH);
    if (program === null) return null;
    const version = await probe(program, ['--version'], /^PowerShell (\d+(?:\.\d+)+)/m, environment);
    return version === null ? null : { version, program };
  },
  load: async (script) => new PowerShellScript(script),
};

class PowerShellScript implements LoadedScript {
  private readonly script: ScriptOnDisk;
  private host: ScriptHost | null = null;

  constructor(script: ScriptOnDisk) {
    this.script = script;
  }

  async call(fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
    if (this.host === null || this.host.isOver) this.host = await ScriptHost.start(this.script, host);
    return this.host.call(fn, ctx);
  }

  async end(): Promise<void> {
    this.host?.end();
    await this.host?.ended;
  }
}
