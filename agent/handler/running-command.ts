import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';
import { discard, readJson, readText, writeJson } from '../folder/write-file.ts';

const record = z.object({
  kind: z.enum(commandNames),
  handler: z.string(),
  version: z.string(),
  purpose: z.enum(['goal', 'update', 'downgrade', 'remove']),
  /** For `update`: the version that is replaced. */
  from: z.string().optional(),
  /** For whom it runs, and the sequence numbers that were in force. */
  extensions: z.array(z.object({ name: z.string(), sequenceNumber: z.int() })),
  attempt: z.int(),
  timeoutSeconds: z.number(),
  outputFile: z.string(),
  /** In which start of the machine it ran. */
  boot: z.string().optional(),
});

/** What is running, written before it starts: an agent that was killed meanwhile learns how it ended (AZ-G3). */
export type CommandRecord = z.infer<typeof record>;

/** The one command that runs on this machine, in a folder that outlives the agent's process. */
export class RunningCommand {
  private readonly all: string;
  /** One for each command: what belongs to an earlier one cannot be taken for this one's. */
  private name: string;

  constructor(all: string) {
    this.all = all;
    this.name = existsSync(all) ? (readdirSync(all)[0] ?? '') : '';
  }

  /** Of this command and no other. */
  get id(): string {
    return this.name;
  }

  get folder(): string {
    return join(this.all, this.name);
  }

  get pipe(): string {
    return join(this.folder, 'pipe');
  }

  prepare(what: CommandRecord): void {
    this.forget();
    this.name = randomUUID();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    execFileSync('mkfifo', ['-m', '600', this.pipe]);
    writeJson(join(this.folder, 'command.json'), what);
  }

  /** What ran when the agent ended, or null. */
  read(): CommandRecord | null {
    const parsed = record.safeParse(readJson(join(this.folder, 'command.json')));
    return parsed.success ? parsed.data : null;
  }

  /** How it ended, or null while that is not known. */
  exitCode(): number | null {
    const text = readText(join(this.folder, 'exit')) ?? '';
    return /^\d+\n$/.test(text) ? Number(text) : null;
  }

  /** Whether its process has begun. Where it has not, it never will from now on. */
  hasBegun(): boolean {
    try {
      writeFileSync(join(this.folder, 'pid'), '-\n', { flag: 'wx', mode: 0o600 });
      return false;
    } catch {
      return true;
    }
  }

  /** The leader of its process group while that runs; null when it has ended, `unknown` in its first moment. */
  leader({ outputFile }: CommandRecord): number | 'unknown' | null {
    const text = readText(join(this.folder, 'pid')) ?? '';
    if (text === '') return 'unknown';
    const pid = /^\d+\n$/.test(text) ? Number(text) : 0;
    if (pid < 2) return null;
    // The number may belong to another program by now; ours was told this very file.
    const words = (readProc(pid, 'cmdline') ?? '').split('\0');
    return words.includes(this.folder) && words.includes(outputFile) ? pid : null;
  }

  /** What became of it is known and kept elsewhere. */
  forget(): void {
    discard(this.all);
  }
}

/** Seconds since a process was started; no clock that somebody sets has a say. */
export function secondsSinceStart(pid: number): number {
  const stat = readProc(pid, 'stat') ?? '';
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  const uptime = Number((readText('/proc/uptime') ?? '').split(' ')[0]);
  return Number.isFinite(ticks) && Number.isFinite(uptime) ? Math.max(0, uptime - ticks / 100) : 0;
}

function readProc(pid: number, name: string): string | null {
  try {
    return readText(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
}
