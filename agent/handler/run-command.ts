import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { wait } from '../portal/wait.ts';
import { CommandProcesses, commandVariable } from './command-processes.ts';
import { OutputFile } from './output-file.ts';
import { type CommandRecord, type RunningCommand, secondsSinceStart } from './running-command.ts';

export interface CommandRun {
  /** Command line from the manifest. */
  line: string;
  /** The handler's root, which is the working directory. Paths are relative to it. */
  root: string;
  environment: Record<string, string>;
  record: CommandRecord;
  running: RunningCommand;
  /** Secrets that are masked in the output. */
  secrets: string[];
  signal?: AbortSignal;
}

export interface Outcome {
  /** Null if the command was terminated or could not start. */
  exitCode: number | null;
  timedOut: boolean;
  /** The end of the output, with a note where something is missing. */
  output: string;
  /** File with the output; absent if there is none. */
  outputFile?: string;
  seconds: number;
}

/** How long the processes of a command may take to end after SIGTERM. */
const graceMilliseconds = 2_000;
/** The capacity of a Linux pipe: the most output that can be in transit when a command ends. */
const pipeBytes = 64 * 1024;
/** Interval at which the agent checks the state of a command's processes. */
const lookMilliseconds = 50;
/**
 * How many times a restarted agent looks for the process id. The command's shell writes it before doing anything else.
 */
const firstLooks = 200;

/**
 * `$1` is the command line, `$2` the folder. The command starts only if the shell creates the file `pid`: a restarted
 * agent creates it first to prevent a late start. The umask is the usual 022, because the agent's umask is stricter
 * under systemd. The shell writes the exit code to disk. If the agent is gone, the shell waits up to an hour for `$2`
 * to be deleted, because a pipe that no process has open loses its contents.
 */
const wrapper = `set -C; echo $$ > "$2/pid" || exit 125; set +C
(umask 022; exec /bin/sh -c "$1"); code=$?; echo $code > "$2/exit"
kill -0 $PPID 2>/dev/null || { n=0; while [ -d "$2" ] && [ $n -lt 3600 ]; do sleep 1; n=$((n + 1)); done; }
exit $code`;

/**
 * Runs one handler command in its own process group (AZ-G1). At the timeout, kills all processes of the command. If the
 * command exits earlier, its background processes keep running. Does not throw, whatever the handler does.
 */
export async function runCommand(command: CommandRun): Promise<Outcome> {
  const { running, record } = command;
  if (!existsSync(command.root)) {
    return { exitCode: null, timedOut: false, output: `The folder ${command.root} is gone.`, seconds: 0 };
  }
  crashPoint(`prepare ${record.kind}`);
  running.prepare(record);
  const started = process.hrtime.bigint();
  const output = new Output(running.pipe, new OutputFile(record.outputFile, command));
  try {
    crashPoint(`start ${record.kind}`);
    const child = start(command);
    crashPoint(`started ${record.kind}`);
    const ended = await untilEnded(child, command);
    crashPoint(`ended ${record.kind}`);
    return { ...output.finish(ended), seconds: Number(process.hrtime.bigint() - started) / 1e9 };
  } finally {
    output.close();
  }
}

/**
 * Returns the outcome of the command that was running when the agent was killed. Waits until it has ended. Null if the
 * command never started or its outcome is unknown.
 */
export async function resumeCommand(
  running: RunningCommand,
  record: CommandRecord,
  secrets: string[],
  signal?: AbortSignal,
): Promise<Outcome | null> {
  if (!running.hasBegun()) return null;
  let leader = running.leader(record);
  for (let looks = 0; leader === 'unknown' && looks < firstLooks; looks += 1) {
    await wait(lookMilliseconds / 1000, []);
    leader = running.leader(record);
  }
  if (leader === 'unknown') leader = null;
  if (leader === null && running.exitCode() === null) return null;
  const output = new Output(running.pipe, new OutputFile(record.outputFile, { secrets, resumed: true }));
  try {
    const seconds = leader === null ? 0 : secondsSinceStart(leader);
    const ended =
      leader === null || running.exitCode() !== null
        ? { exitCode: running.exitCode(), timedOut: false, note: '' }
        : await untilGone(leader, record, running, record.timeoutSeconds - seconds, signal);
    crashPoint(`ended ${record.kind}`);
    return { ...output.finish(ended), seconds };
  } finally {
    output.close();
  }
}

interface Ended {
  exitCode: number | null;
  timedOut: boolean;
  /** The agent's closing note in the output. */
  note: string;
}

/**
 * Reads the output of a command from a named pipe, which outlives the agent: the command continues, and the agent's
 * next start resumes reading.
 */
class Output {
  private readonly pipe: string;
  private readonly file: OutputFile;
  private readonly socket: Socket;
  private isOpen = true;

  constructor(pipe: string, file: OutputFile) {
    this.pipe = pipe;
    this.file = file;
    this.socket = new Socket({ fd: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), readable: true });
    this.socket.on('data', (chunk) => this.file.write(chunk));
    this.socket.on('error', () => {});
  }

  /**
   * Reads the rest of the pipe. Never throws, because the exit code counts even if the output cannot be read (AZ-G3).
   */
  finish({ exitCode, timedOut, note }: Ended): Omit<Outcome, 'seconds'> {
    const ended = { exitCode, timedOut, outputFile: this.file.path };
    try {
      // Drains before closing, because a pipe that no process has open loses its contents.
      this.drain();
      this.close();
      return { ...ended, output: this.file.finish(note).tail };
    } catch (error) {
      const lost = `[The agent could not read the rest of the output: ${sentenceOf(error)}.]`;
      return { ...ended, output: note === '' ? lost : `${note}\n${lost}` };
    }
  }

  close(): void {
    if (this.isOpen) this.socket.destroy();
    this.isOpen = false;
  }

  private drain(): void {
    const end = openSync(this.pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const buffer = Buffer.alloc(pipeBytes);
      for (let read = 0; read < pipeBytes; ) {
        const count = readSync(end, buffer, 0, buffer.length, null);
        // No process has the pipe open for writing.
        if (count === 0) return;
        this.file.write(Buffer.from(buffer.subarray(0, count)));
        read += count;
      }
      this.detachReader();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      this.detachReader();
    } finally {
      closeSync(end);
    }
  }

  /**
   * Starts a process that discards further output: a service that keeps running may write for years, and would block
   * once the pipe is full.
   */
  private detachReader(): void {
    const writer = openSync(this.pipe, constants.O_RDWR);
    const reader = openSync(this.pipe, constants.O_RDONLY);
    const options = { stdio: [reader, 'ignore', 'ignore'] as const, detached: true, cwd: '/' };
    const child = spawn('cat', [], { ...options, stdio: [...options.stdio] });
    child.on('error', () => {});
    child.unref();
    closeSync(reader);
    closeSync(writer);
  }
}

function start(command: CommandRun): ChildProcess {
  const { running, record } = command;
  // Opens the pipe for reading too: without a reader, SIGPIPE would kill the writer.
  const output = openSync(running.pipe, constants.O_RDWR);
  try {
    return spawn(
      '/bin/sh',
      ['-c', wrapper, 'annex-command', lineWithPath(command), running.folder, record.outputFile],
      {
        cwd: command.root,
        // The types of Next.js require a NODE_ENV, which handlers do not get.
        env: { ...(command.environment as NodeJS.ProcessEnv), [commandVariable]: running.id },
        stdio: ['ignore', output, output],
        detached: true,
      },
    );
  } finally {
    closeSync(output);
  }
}

function untilEnded(child: ChildProcess, { record, running, signal }: CommandRun): Promise<Ended> {
  const seconds = record.timeoutSeconds;
  return new Promise((resolve) => {
    const ending = endAfter(child.pid, running, seconds, signal);
    child.on('error', (error) => {
      void ending.done();
      resolve({ exitCode: null, timedOut: false, note: `The command could not be started: ${error.message}.` });
    });
    child.on('exit', (code, by) => void ending.done().then((why) => resolve(endedBy(why, code, seconds, by))));
  });
}

/** Waits for a command that an earlier run of the agent started, and ends it at its timeout. */
function untilGone(
  leader: number,
  record: CommandRecord,
  running: RunningCommand,
  seconds: number,
  signal?: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve) => {
    const ending = endAfter(leader, running, Math.max(0, seconds), signal);
    const look = setInterval(() => {
      if (running.leader(record) !== null && running.exitCode() === null) return;
      clearInterval(look);
      void ending.done().then((why) => resolve(endedBy(why, running.exitCode(), record.timeoutSeconds, null)));
    }, lookMilliseconds);
  });
}

type Why = 'itself' | 'time' | 'stop';

function endedBy(why: Why, exitCode: number | null, seconds: number, by: NodeJS.Signals | null): Ended {
  if (why === 'time') return { exitCode: null, timedOut: true, note: `Ended after ${seconds} s, its timeout.` };
  if (why === 'stop') return { exitCode: null, timedOut: false, note: 'Ended because the agent stopped.' };
  return { exitCode, timedOut: false, note: exitCode === null ? `Ended by ${by ?? 'a signal'}.` : '' };
}

/**
 * Ends a command at its timeout or when the agent stops, first with SIGTERM. Call `done` once the leader has ended. If
 * signals were sent, `done` resolves when the other processes have ended or were killed.
 */
function endAfter(
  leader: number | undefined,
  { id }: RunningCommand,
  seconds: number,
  signal?: AbortSignal,
): { done(): Promise<Why> } {
  const processes = leader === undefined ? null : new CommandProcesses(leader, id);
  let why: Why = 'itself';
  let kill: NodeJS.Timeout | undefined;
  let isKilled = false;
  const end = (reason: Why) => {
    if (why !== 'itself') return;
    why = reason;
    processes?.signal('SIGTERM');
    kill = setTimeout(() => {
      isKilled = true;
      processes?.signal('SIGKILL');
    }, graceMilliseconds);
  };
  const stop = () => end('stop');
  const timer = setTimeout(() => end('time'), seconds * 1000);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  return {
    async done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      // The leader is a shell and ends immediately, but its children may still be cleaning up.
      if (why !== 'itself') {
        while (!isKilled && processes?.anyRunning()) await wait(lookMilliseconds / 1000, []);
        processes?.endLateOnes();
      }
      clearTimeout(kill);
      return why;
    },
  };
}

/**
 * Turns `install.sh` into `./install.sh` if the root contains that file, because paths are relative to the root,
 * regardless of PATH.
 */
function lineWithPath({ line, root }: CommandRun): string {
  const program = /^[^\s'"\\$`;&|<>()]+/.exec(line)?.[0];
  if (program === undefined || program.includes('/') || !existsSync(join(root, program))) return line;
  return `./${line}`;
}
