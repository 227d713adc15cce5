import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { commandVariable } from './command-processes.ts';
import { type EndReason, endAfter } from './end-after.ts';
import { keptArguments, secondsSinceStart } from './kept-process.ts';
import { OutputFile } from './output-file.ts';
import { OutputPipe } from './output-pipe.ts';
import type { CommandRecord, RunningCommand } from './running-command.ts';

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
  const { process } = running;
  if (!process.hasBegun()) return null;
  const leader = await process.leader();
  if (leader === null && process.exitCode() === null) return null;
  const output = new Output(running.pipe, new OutputFile(record.outputFile, { secrets, resumed: true }));
  try {
    const seconds = leader === null ? 0 : secondsSinceStart(leader);
    const exitCode = process.exitCode();
    const gone =
      leader === null || exitCode !== null
        ? { why: 'itself' as const, exitCode }
        : await process.untilGone(leader, running.id, record.timeoutSeconds - seconds, { signal });
    const ended = endedBy(gone.why, gone.exitCode, record.timeoutSeconds, null);
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
  const { running } = command;
  // Opens the pipe for reading too: without a reader, SIGPIPE would kill the writer.
  const output = openSync(running.pipe, constants.O_RDWR);
  try {
    return spawn('/bin/sh', keptArguments(running.folder, ['/bin/sh', '-c', lineWithPath(command)]), {
      cwd: command.root,
      // The types of Next.js require a NODE_ENV, which handlers do not get.
      env: { ...(command.environment as NodeJS.ProcessEnv), [commandVariable]: running.id },
      stdio: ['ignore', output, output],
      detached: true,
    });
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
