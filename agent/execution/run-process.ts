import { type ChildProcess, execFile, type IOType, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { crashPoint } from '../folder/crash-point.ts';
import { writeAll } from '../folder/write-file.ts';
import { CommandProcesses, commandVariable } from '../handler/command-processes.ts';
import { type EndReason, endAfter } from '../handler/end-after.ts';
import { OutputPipe } from '../handler/output-pipe.ts';
import { wait } from '../portal/wait.ts';

export interface ProcessStart {
  /** Parent of one folder for each running process. A restarted agent reads it to find leftover processes. */
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
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
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
  /** Kills the process group, and strays that have left the group (see `CommandProcesses`). */
  endAll(): void;
}

const runFile = promisify(execFile);

/** Sets the usual umask of 022, because the agent's umask is stricter under systemd. */
const launcher = 'umask 022; exec "$@"';
const limitedLauncher = (bytes: number) => `umask 022; ulimit -v ${Math.floor(bytes / 1024)}; exec "$@"`;

/** Starts a process, and reads its output from named pipes. */
export async function startProcess(start: ProcessStart): Promise<StartedProcess> {
  const id = randomUUID();
  const folder = join(start.running, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [out, err] = [join(folder, 'out'), join(folder, 'err')];
  await runFile('mkfifo', ['-m', '600', out, err]);
  // Also opened for reading, because SIGPIPE kills a process that writes to a pipe without readers.
  const writers = [openSync(out, constants.O_RDWR), openSync(err, constants.O_RDWR)] as const;
  const pipes = [new OutputPipe(out, start.onOut), new OutputPipe(err, start.onErr)];
  crashPoint('start a process');
  let child: ChildProcess;
  try {
    child = spawnIn(folder, id, start, writers);
  } finally {
    for (const writer of writers) closeSync(writer);
  }
  crashPoint('started a process');
  let isOver = false;
  const ended = untilEnded(child, id, start).then((end) => {
    for (const pipe of pipes) finish(pipe);
    rmSync(folder, { recursive: true, force: true });
    isOver = true;
    return end;
  });
  const [, , , to, from] = child.stdio;
  return {
    frames: start.frames ? { to: to as Writable, from: from as Readable } : null,
    ended,
    drain: () => {
      if (!isOver) for (const pipe of pipes) drain(pipe);
    },
    endAll: () => {
      if (child.pid === undefined) return;
      const processes = new CommandProcesses(child.pid, id);
      processes.signal('SIGKILL');
      processes.endLateOnes();
    },
  };
}

/** Reads the rest of the output. Never throws, because the exit code is valid even if the output cannot be read. */
function finish(pipe: OutputPipe): void {
  try {
    pipe.finish();
  } catch {
    pipe.close();
  }
}

/** Reads the output that is in transit. Never throws. */
function drain(pipe: OutputPipe): void {
  try {
    pipe.drain();
  } catch {
    // The folder may have been deleted after the end of the process.
  }
}

function spawnIn(folder: string, id: string, start: ProcessStart, [out, err]: readonly [number, number]): ChildProcess {
  const { program, args, cwd, environment, memory, frames } = start;
  const stdin = start.stdin === undefined ? null : stdinOf(folder, start.stdin);
  const pipes: IOType[] = frames ? ['pipe', 'pipe'] : [];
  try {
    return spawn('/bin/sh', ['-c', memory === undefined ? launcher : limitedLauncher(memory), 'sh', program, ...args], {
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

function untilEnded(child: ChildProcess, id: string, { seconds, signal }: ProcessStart): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    const ending = endAfter(child.pid, id, seconds, signal);
    child.on('error', ({ message }) => {
      void ending.done();
      resolve({ exitCode: null, signal: null, why: 'itself', fault: message });
    });
    child.on('exit', (exitCode, by) => {
      void ending.done().then((why) => resolve({ exitCode: why === 'itself' ? exitCode : null, signal: by, why }));
    });
  });
}

/** Kills the processes that an earlier run of the agent left running for an execution. */
export async function endLeftovers(running: string): Promise<void> {
  if (!existsSync(running)) return;
  for (const id of readdirSync(running)) {
    const processes = new CommandProcesses(null, id);
    processes.signal('SIGKILL');
    processes.endLateOnes();
    for (let looks = 0; processes.anyRunning() && looks < 100; looks += 1) await wait(0.02, []);
    rmSync(join(running, id), { recursive: true, force: true });
  }
}
