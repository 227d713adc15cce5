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

export interface Command {
  /** The command line of the manifest. */
  line: string;
  /** The handler's root: working directory, and what paths are relative to. */
  root: string;
  environment: Record<string, string>;
  record: CommandRecord;
  running: RunningCommand;
  /** What is masked in its output. */
  secrets: string[];
  signal?: AbortSignal;
}

export interface Outcome {
  /** Null where the command was ended, or could not be started. */
  exitCode: number | null;
  timedOut: boolean;
  /** The last of what it wrote; says so where something is missing. */
  output: string;
  /** Where all of it is; absent where nothing ran. */
  outputFile?: string;
  seconds: number;
}

/** How long the processes of a command have after SIGTERM. */
const graceMilliseconds = 2_000;
/** How much of its output may be on the way when a command ends: what a pipe of Linux holds. */
const pipeBytes = 64 * 1024;
/** How often an agent that was started again looks whether the command of the earlier one has ended. */
const lookMilliseconds = 50;
/** So often for its process number, which it writes first of all. */
const firstLooks = 200;

/**
 * `$1` the line, `$2` the folder. It begins only where its number can be the first in the file: an agent that was started
 * again may have written there that it is too late. What a handler makes for the machine is for all of it: the agent's own
 * umask under systemd is another. The exit code is on disk whoever is there to hear of it. Where nobody
 * is, it stays for an hour, until its folder goes: a pipe that nobody has open forgets what is in it.
 */
const wrapper = `set -C; echo $$ > "$2/pid" || exit 125; set +C
(umask 022; exec /bin/sh -c "$1"); code=$?; echo $code > "$2/exit"
kill -0 $PPID 2>/dev/null || { n=0; while [ -d "$2" ] && [ $n -lt 3600 ]; do sleep 1; n=$((n + 1)); done; }
exit $code`;

/**
 * Runs one command of a handler in a process group of its own (AZ-G1). When its time is over, all of its processes end.
 * What it leaves running on purpose goes on when it ends by itself. Never throws for what the handler does.
 */
export async function runCommand(command: Command): Promise<Outcome> {
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
 * What became of the command that ran when the agent was killed: waits for its end where it still runs. Null where
 * nobody knows.
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
  /** The agent's last word about it. */
  note: string;
}

/**
 * Reads what a command writes, from a pipe with a name: it outlives the agent, so that the command is not ended by the
 * agent's end, and the next start reads on.
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

  /** Reads what is left in the pipe. Never throws: a lost output must not lose the exit code with it (AZ-G3). */
  finish({ exitCode, timedOut, note }: Ended): Omit<Outcome, 'seconds'> {
    const ended = { exitCode, timedOut, outputFile: this.file.path };
    try {
      // In this order: a pipe that no process has open loses what is in it.
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
        // Nobody has it open any more.
        if (count === 0) return;
        this.file.write(Buffer.from(buffer.subarray(0, count)));
        read += count;
      }
      this.leaveReader();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      this.leaveReader();
    } finally {
      closeSync(end);
    }
  }

  /** A service that stays may write for years, and would wait for a reader: what it writes is nobody's. */
  private leaveReader(): void {
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

function start(command: Command): ChildProcess {
  const { running, record } = command;
  // Whoever writes can read too: a pipe without its reader makes it wait, and does not end it.
  const output = openSync(running.pipe, constants.O_RDWR);
  try {
    return spawn(
      '/bin/sh',
      ['-c', wrapper, 'annex-command', lineWithPath(command), running.folder, record.outputFile],
      {
        cwd: command.root,
        // Next widens this type by a NODE_ENV that handlers do not get.
        env: { ...(command.environment as NodeJS.ProcessEnv), [commandVariable]: running.id },
        stdio: ['ignore', output, output],
        detached: true,
      },
    );
  } finally {
    closeSync(output);
  }
}

function untilEnded(child: ChildProcess, { record, running, signal }: Command): Promise<Ended> {
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

/** The same for a command that another run of the agent has started. */
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
  if (why === 'time')
    return { exitCode: null, timedOut: true, note: `Ended after ${seconds} s, the time that it has.` };
  if (why === 'stop') return { exitCode: null, timedOut: false, note: 'Ended because the agent was told to stop.' };
  return { exitCode, timedOut: false, note: exitCode === null ? `Ended by ${by ?? 'a signal'}.` : '' };
}

/** Ends a command when its time is over or the agent stops, first softly. `done`: its leader is gone. */
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
      // The leader is a shell and ends at once; what it has started may still be tidying up.
      if (why !== 'itself') {
        while (!isKilled && processes?.areThere()) await wait(lookMilliseconds / 1000, []);
        processes?.endLateOnes();
      }
      clearTimeout(kill);
      return why;
    },
  };
}

/** `install.sh` is `./install.sh` where the root has it: paths are relative to the root, whatever PATH says. */
function lineWithPath({ line, root }: Command): string {
  const program = /^[^\s'"\\$`;&|<>()]+/.exec(line)?.[0];
  if (program === undefined || program.includes('/') || !existsSync(join(root, program))) return line;
  return `./${line}`;
}
