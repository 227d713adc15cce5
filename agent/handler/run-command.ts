import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentLimits } from '#protocol/index.ts';

export interface Command {
  /** The command line of the manifest. */
  line: string;
  /** The handler's root: working directory, and what paths are relative to. */
  root: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  /** Where stdout and stderr go, whole. */
  outputFile: string;
  signal?: AbortSignal;
}

export interface Outcome {
  /** Null where the command was ended, or could not be started. */
  exitCode: number | null;
  timedOut: boolean;
  /** The last of what it wrote; says so where something is missing. */
  output: string;
  seconds: number;
}

/** How long the processes of a command have after SIGTERM. */
const graceMilliseconds = 2_000;

/**
 * Runs one command of a handler in a process group of its own (AZ-G1). When its time is over, the whole group ends.
 * What it leaves running on purpose goes on when it ends by itself. Never throws.
 */
export async function runCommand(command: Command): Promise<Outcome> {
  const started = process.hrtime.bigint();
  const elapsed = () => Number(process.hrtime.bigint() - started) / 1e9;
  if (!existsSync(command.root)) {
    return { exitCode: null, timedOut: false, output: `The folder ${command.root} is gone.`, seconds: 0 };
  }
  mkdirSync(dirname(command.outputFile), { recursive: true, mode: 0o700 });
  const output = openSync(command.outputFile, 'w+', 0o600);
  try {
    const ended = await spawnAndWait(command, output);
    const note = ended.problem === null ? '' : `\n${ended.problem}`;
    return {
      exitCode: ended.exitCode,
      timedOut: ended.timedOut,
      output: tailOf(output, command.outputFile, note),
      seconds: elapsed(),
    };
  } finally {
    closeSync(output);
  }
}

interface Ended {
  exitCode: number | null;
  timedOut: boolean;
  problem: string | null;
}

function spawnAndWait(command: Command, output: number): Promise<Ended> {
  return new Promise((resolve) => {
    // Output goes to a file, not a pipe: a service that enable starts may hold it for years.
    const child = spawn('/bin/sh', ['-c', lineWithPath(command)], {
      cwd: command.root,
      // Next widens this type by a NODE_ENV that handlers do not get.
      env: command.environment as NodeJS.ProcessEnv,
      stdio: ['ignore', output, output],
      detached: true,
    });
    let timedOut = false;
    let ending = false;
    let kill: NodeJS.Timeout | undefined;
    const endGroup = () => {
      if (ending) return;
      ending = true;
      signalGroup(child.pid, 'SIGTERM');
      kill = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMilliseconds);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, command.timeoutSeconds * 1000);
    command.signal?.addEventListener('abort', endGroup);
    const finish = (exitCode: number | null, problem: string | null) => {
      clearTimeout(timer);
      command.signal?.removeEventListener('abort', endGroup);
      if (ending) {
        clearTimeout(kill);
        signalGroup(child.pid, 'SIGKILL');
      }
      resolve({ exitCode: ending ? null : exitCode, timedOut, problem });
    };
    child.on('error', (error) => finish(null, `The command could not be started: ${error.message}.`));
    child.on('exit', (code, signal) => {
      if (timedOut) finish(null, `Ended after ${command.timeoutSeconds} s, the time that it has.`);
      else if (ending) finish(null, 'Ended because the agent was told to stop.');
      else if (code === null) finish(null, `Ended by ${signal ?? 'a signal'}.`);
      else finish(code, null);
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

/** `install.sh` is `./install.sh` where the root has it: paths are relative to the root, whatever PATH says. */
function lineWithPath({ line, root }: Command): string {
  const program = /^[^\s'"\\$`;&|<>()]+/.exec(line)?.[0];
  if (program === undefined || program.includes('/') || !existsSync(join(root, program))) return line;
  return `./${line}`;
}

/** The end of a file, at most what a report may carry, as text that JSON and a database can hold. */
function tailOf(file: number, path: string, note: string): string {
  const { size } = fstatSync(file);
  const header = `[Cut: only the end of ${size} bytes. The whole output is in ${path} on the machine.]\n`;
  const room = documentLimits.outputBytes - Buffer.byteLength(header) - Buffer.byteLength(note);
  const buffer = Buffer.alloc(Math.min(size, room));
  const start = size - buffer.length;
  readSync(file, buffer, 0, buffer.length, start);
  const text = clean(buffer.toString('utf8'));
  const kept = lastBytes(text, room);
  const whole = start === 0 && kept === text;
  return whole ? (kept + note).replace(/^\n/, '') : header + kept + note;
}

/** Control characters that no terminal text needs become the replacement character. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => ('\t\n\r\u001b'.includes(character) ? character : '\uFFFD'));
}

function lastBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  // Not in the middle of a character.
  while (((encoded[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return encoded.subarray(start).toString('utf8');
}
