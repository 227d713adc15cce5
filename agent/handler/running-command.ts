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
  /** For `update`: the version being replaced. */
  from: z.string().optional(),
  /** The extensions that the command runs for, with their current sequence numbers. */
  extensions: z.array(z.object({ name: z.string(), sequenceNumber: z.int() })),
  attempt: z.int(),
  timeoutSeconds: z.number(),
  outputFile: z.string(),
  /** Id of the boot in which the command ran. */
  boot: z.string().optional(),
});

/** A running command. Recorded before it starts, so that a restarted agent can find out how it ended (AZ-G3). */
export type CommandRecord = z.infer<typeof record>;

/** The record of the command that the lane is running, in a folder that outlives the agent's process. */
export class RunningCommand {
  private readonly all: string;
  /** A new name for each command, so that leftovers of an earlier command are not mistaken for its own. */
  private name: string;

  constructor(all: string) {
    this.all = all;
    this.name = existsSync(all) ? (readdirSync(all)[0] ?? '') : '';
  }

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

  /** Returns the command that was running when the agent ended, or null. */
  read(): CommandRecord | null {
    const parsed = record.safeParse(readJson(join(this.folder, 'command.json')));
    return parsed.success ? parsed.data : null;
  }

  /** Returns the exit code, or null while it is unknown. */
  exitCode(): number | null {
    const text = readText(join(this.folder, 'exit')) ?? '';
    return /^\d+\n$/.test(text) ? Number(text) : null;
  }

  /** Whether the command's process has started. If not, this call prevents it from starting. */
  hasBegun(): boolean {
    try {
      writeFileSync(join(this.folder, 'pid'), '-\n', { flag: 'wx', mode: 0o600 });
      return false;
    } catch {
      return true;
    }
  }

  /**
   * Returns the process id of the leader of the command's process group; null if the leader has ended, `unknown` if it
   * has not yet written its process id.
   */
  leader({ outputFile }: CommandRecord): number | 'unknown' | null {
    const text = readText(join(this.folder, 'pid')) ?? '';
    if (text === '') return 'unknown';
    const pid = /^\d+\n$/.test(text) ? Number(text) : 0;
    if (pid < 2) return null;
    // The process id may have been reused. The command's own process has this folder and the output file in its command
    // line.
    const words = (readProc(pid, 'cmdline') ?? '').split('\0');
    return words.includes(this.folder) && words.includes(outputFile) ? pid : null;
  }

  /** Deletes the record once the outcome is stored elsewhere. */
  forget(): void {
    discard(this.all);
  }
}

/** Returns the seconds since a process started, unaffected by clock changes. */
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
