import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../folder/crash-point.ts';
import { discard } from '../folder/write-file.ts';
import { keptArguments, ProcessFolder, secondsSinceStart } from '../handler/kept-process.ts';
import { AgentStopped } from './agent-stopped.ts';
import { ProcessPipes } from './process-pipes.ts';
import { type ProcessEnd, type ProcessStart, spawnPiped, untilEnded } from './run-process.ts';

export interface CallProcessStart extends Omit<ProcessStart, 'memory' | 'frames'> {
  /** Name of the process's folder. */
  id: string;
  /** Aborted when the agent stops. The process then continues, and the promise rejects with AgentStopped. */
  leaving: AbortSignal;
}

/**
 * Runs a process of a call to completion. The process outlives the agent. Its folder is kept until `forgetProcess`, so
 * that a restarted agent can find out how the process ended.
 */
export async function runCallProcess(start: CallProcessStart): Promise<ProcessEnd> {
  const { id, program, args } = start;
  const folder = join(start.running, id);
  const { child, pipes } = await spawnPiped(folder, id, start, keptArguments(folder, [program, ...args]));
  return outputRead(new ProcessFolder(folder), untilEnded(child, id, start), pipes, start.leaving);
}

/**
 * Waits for a process that an earlier run of the agent started in the current boot. Resolves to null if the process
 * never started, or ended in an unknown way.
 */
export async function resumeCallProcess(start: CallProcessStart): Promise<ProcessEnd | null> {
  const { id, seconds, signal, leaving } = start;
  const folder = new ProcessFolder(join(start.running, id));
  if (!existsSync(folder.path) || !folder.hasBegun()) return null;
  const leader = await folder.leader();
  const exitCode = folder.exitCode();
  if (leader === null && exitCode === null) return null;
  const pipes = ProcessPipes.read(folder.path, start);
  const ended: Promise<ProcessEnd> =
    leader === null || exitCode !== null
      ? Promise.resolve({ exitCode, signal: null, why: 'itself' })
      : folder
          .untilGone(leader, id, seconds - secondsSinceStart(leader), { signal, leaving })
          .then((gone) => ({ ...gone, exitCode: gone.why === 'itself' ? gone.exitCode : null, signal: null }));
  return outputRead(folder, ended, pipes, leaving);
}

/** Deletes the folder of a process. Call this once the answer to its call is stored. */
export function forgetProcess(running: string, id: string): void {
  const folder = join(running, id);
  if (existsSync(folder)) discard(folder);
}

/** Reads the rest of the output once the process has ended. Rejects with AgentStopped if the agent stops first. */
async function outputRead(
  folder: ProcessFolder,
  ended: Promise<ProcessEnd>,
  pipes: ProcessPipes,
  leaving: AbortSignal,
): Promise<ProcessEnd> {
  let stopped = () => {};
  const left = new Promise<null>((resolve) => {
    stopped = () => resolve(null);
    if (leaving.aborted) stopped();
    leaving.addEventListener('abort', stopped);
  });
  const end = await Promise.race([ended, left]);
  leaving.removeEventListener('abort', stopped);
  if (end === null) {
    folder.leave();
    pipes.drain();
    pipes.close();
    throw new AgentStopped();
  }
  pipes.finish();
  crashPoint('ended a process of a call');
  return end;
}
