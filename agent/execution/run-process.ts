import { type ChildProcess, type IOType, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { crashPoint } from '../folder/crash-point.ts';
import { writeAll } from '../folder/write-file.ts';
import { CommandProcesses, commandVariable } from '../handler/command-processes.ts';
import { type EndReason, endAfter } from '../handler/end-after.ts';
import { wait } from '../portal/wait.ts';
import { closeAll, type OutputReaders, ProcessPipes } from './process-pipes.ts';

export interface ProcessStart extends OutputReaders {
  /** Folder with a subfolder for each running process. A restarted agent reads it to find leftover processes. */
  running: string;
  program: string;
  args: readonly string[];
  cwd: string;
  environment: Record<string, string>;
  /** The standard input; empty if absent. */
  stdin?: string;
  /** Limit on the address space, in bytes. */
  memory?: number;
  /** Whether descriptors 3 (to the process) and 4 (from the process) are pipes. */
  frames?: boolean;
  seconds: number;
  signal: AbortSignal;
}

/** How a process ended. */
export interface ProcessEnd {
  /** Null if the process was ended by a signal or by the agent, or if it could not start. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  why: EndReason;
  /** Reason why the process could not start. */
  fault?: string;
}

/** A process of an execution, in its own process group. */
export interface StartedProcess {
  /** The pipes at descriptors 3 and 4; null without `frames`. */
  frames: { to: Writable; from: Readable } | null;
  /** Resolves when the process has ended and its output was read. Its child processes may still be running. */
  ended: Promise<ProcessEnd>;
  /** Reads the output that the process has already written. */
  drain(): void;
  /** Kills the process group and strays that left it (see `CommandProcesses`). Only the first call has an effect. */
  endAll(): void;
}

/** Sets the usual umask of 022, because the agent's umask is stricter under systemd. */
export const launcher = 'umask 022; exec "$@"';
/** Interval at which the agent checks whether processes have ended. */
const lookSeconds = 0.02;
const limitedLauncher = (bytes: number) => `umask 022; ulimit -v ${Math.floor(bytes / 1024)}; exec "$@"`;

/** Starts a process that ends with the agent, and reads its output from named pipes. */
export async function startProcess(start: ProcessStart): Promise<StartedProcess> {
  const id = randomUUID();
  const folder = join(start.running, id);
  const { memory, program, args } = start;
  const shell = ['-c', memory === undefined ? launcher : limitedLauncher(memory), 'sh', program, ...args];
  const { child, pipes } = await spawnPiped(folder, id, start, shell);
  let isOver = false;
  let isKilled = false;
  const ended = untilEnded(child, id, start).then((end) => {
    pipes.finish();
    rmSync(folder, { recursive: true, force: true });
    isOver = true;
    return end;
  });
  const [, , , to, from] = child.stdio;
  return {
    frames: start.frames ? { to: to as Writable, from: from as Readable } : null,
    ended,
    drain: () => {
      if (!isOver) pipes.drain();
    },
    endAll: () => {
      if (child.pid === undefined || isKilled) return;
      isKilled = true;
      const processes = new CommandProcesses(child.pid, id);
      processes.signal('SIGKILL');
      processes.endLateOnes();
    },
  };
}

/** Creates the folder of a process, and starts `/bin/sh` with these arguments. */
export async function spawnPiped(
  folder: string,
  id: string,
  start: ProcessStart,
  shell: readonly string[],
): Promise<{ child: ChildProcess; pipes: ProcessPipes }> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await ProcessPipes.create(folder);
  const writers = ProcessPipes.openWriters(folder);
  const pipes = ProcessPipes.read(folder, start);
  try {
    crashPoint('start a process');
    const child = spawnIn(folder, id, start, shell, writers);
    crashPoint('started a process');
    return { child, pipes };
  } catch (error) {
    pipes.close();
    throw error;
  } finally {
    closeAll(writers);
  }
}

function spawnIn(
  folder: string,
  id: string,
  { cwd, environment, frames, stdin: text }: ProcessStart,
  shell: readonly string[],
  [out, err]: readonly [number, number],
): ChildProcess {
  const stdin = text === undefined ? null : stdinOf(folder, text);
  const pipes: IOType[] = frames ? ['pipe', 'pipe'] : [];
  try {
    return spawn('/bin/sh', shell, {
      cwd,
      // Next's types require a NODE_ENV, which scripts do not get.
      env: { ...(environment as NodeJS.ProcessEnv), [commandVariable]: id },
      stdio: [stdin ?? 'ignore', out, err, ...pipes],
      detached: true,
    });
  } finally {
    if (stdin !== null) closeSync(stdin);
  }
}

/** Returns a descriptor of a file that is already deleted, so that secrets do not stay on disk. */
function stdinOf(folder: string, text: string): number {
  const path = join(folder, 'in');
  const writer = openSync(path, 'w', 0o600);
  try {
    writeAll(writer, Buffer.from(text));
    return openSync(path, 'r');
  } finally {
    closeSync(writer);
    rmSync(path, { force: true });
  }
}

/**
 * Resolves when the process has ended. Ends it at its time limit, or when `signal` aborts. If `leaving` aborts, leaves
 * it running and never resolves.
 */
export function untilEnded(
  child: ChildProcess,
  id: string,
  { seconds, signal, leaving }: Pick<ProcessStart, 'seconds' | 'signal'> & { leaving?: AbortSignal },
): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    const ending = endAfter(child.pid, id, seconds, signal);
    const leave = () => {
      child.removeAllListeners('exit').unref();
      ending.leave();
    };
    if (leaving?.aborted) leave();
    leaving?.addEventListener('abort', leave);
    child.on('error', ({ message }) => {
      leaving?.removeEventListener('abort', leave);
      void ending.done();
      resolve({ exitCode: null, signal: null, why: 'itself', fault: message });
    });
    child.on('exit', (exitCode, by) => {
      leaving?.removeEventListener('abort', leave);
      void ending.done().then((why) => resolve({ exitCode: why === 'itself' ? exitCode : null, signal: by, why }));
    });
  });
}

/**
 * Kills the processes that an earlier run of the agent left running for an execution, except those for whose id
 * `isKept` returns true.
 */
export async function endLeftovers(running: string, isKept: (id: string) => boolean = () => false): Promise<void> {
  if (!existsSync(running)) return;
  for (const id of readdirSync(running)) {
    if (isKept(id)) continue;
    await endMarked(id);
    rmSync(join(running, id), { recursive: true, force: true });
  }
}

/**
 * Kills all processes that are marked with this id. If `graceSeconds` is given, they receive SIGTERM first, and have
 * this time to end.
 */
export async function endMarked(id: string, graceSeconds = 0): Promise<void> {
  const processes = new CommandProcesses(null, id);
  if (graceSeconds > 0) {
    processes.signal('SIGTERM');
    const end = performance.now() + graceSeconds * 1000;
    while (processes.anyRunning() && performance.now() < end) await wait(lookSeconds, []);
  }
  processes.signal('SIGKILL');
  processes.endLateOnes();
  for (let looks = 0; processes.anyRunning() && looks < 100; looks += 1) await wait(lookSeconds, []);
}
