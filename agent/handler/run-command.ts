import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { wait } from '../portal/wait.ts';
import { commandVariable } from './command-processes.ts';
import { type EndReason, endAfter } from './end-after.ts';
import { OutputFile } from './output-file.ts';
import { OutputPipe } from './output-pipe.ts';
import { type CommandRecord, type RunningCommand, secondsSinceStart } from './running-command.ts';

export interface CommandRun {
  /** Command line from the manifest. */
  line: string;
  /** The handler's root, which is the working directory of the command. */
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
 * Returns the outcome of the command that was running when the agent was killed. Waits until the command has ended.
 * Null if the command never started or its outcome is unknown.
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

/** Writes the output of a command to its file, as it arrives. */
class Output {
  private readonly pipe: OutputPipe;
  private readonly file: OutputFile;

  constructor(path: string, file: OutputFile) {
    this.file = file;
    this.pipe = new OutputPipe(path, (chunk) => this.file.write(chunk));
  }

  /**
   * Reads the rest of the pipe. Never throws, because the exit code counts even if the output cannot be read (AZ-G3).
   */
  finish({ exitCode, timedOut, note }: Ended): Omit<Outcome, 'seconds'> {
    const ended = { exitCode, timedOut, outputFile: this.file.path };
    try {
      this.pipe.finish();
      return { ...ended, output: this.file.finish(note).tail };
    } catch (error) {
      const lost = `[The agent could not read the rest of the output: ${sentenceOf(error)}.]`;
      return { ...ended, output: note === '' ? lost : `${note}\n${lost}` };
    }
  }

  close(): void {
    this.pipe.close();
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
    const ending = endAfter(child.pid, running.id, seconds, signal);
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
    const ending = endAfter(leader, running.id, Math.max(0, seconds), signal);
    const look = setInterval(() => {
      if (running.leader(record) !== null && running.exitCode() === null) return;
      clearInterval(look);
      void ending.done().then((why) => resolve(endedBy(why, running.exitCode(), record.timeoutSeconds, null)));
    }, lookMilliseconds);
  });
}

function endedBy(why: EndReason, exitCode: number | null, seconds: number, by: NodeJS.Signals | null): Ended {
  if (why === 'time') return { exitCode: null, timedOut: true, note: `Ended after ${seconds} s, its timeout.` };
  if (why === 'stop') return { exitCode: null, timedOut: false, note: 'Ended because the agent stopped.' };
  return { exitCode, timedOut: false, note: exitCode === null ? `Ended by ${by ?? 'a signal'}.` : '' };
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
