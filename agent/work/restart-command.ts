import { spawn } from 'node:child_process';
import { crashPoint } from '../folder/crash-point.ts';
import { inheritedEnvironment } from '../handler/environment.ts';

export interface RestartCommand {
  /** Shell command that restarts the machine. */
  command: string;
  cwd: string;
  /** The agent's environment; the command inherits the same part of it as handlers do. */
  environment: Record<string, string | undefined>;
  /** Called when the command cannot be started, or exits with a code other than 0. */
  onFailure(why: { message: string } | { exitCode: number }): void;
}

/** Runs the command that restarts the machine, and does not wait for it. */
export function runRestartCommand({ command, cwd, environment, onFailure }: RestartCommand): void {
  crashPoint('restart');
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    // The types of Next.js require a NODE_ENV, which the command does not get.
    env: inheritedEnvironment(environment) as NodeJS.ProcessEnv,
    stdio: 'ignore',
    detached: true,
  });
  crashPoint('restarting');
  child.on('error', ({ message }) => onFailure({ message }));
  // A code of null means that a signal ended the command, as the machine's shutdown does.
  child.on('exit', (exitCode) => {
    if (exitCode) onFailure({ exitCode });
  });
  child.unref();
}
