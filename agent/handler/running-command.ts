import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { commandNames } from '#protocol/index.ts';
import { discard, readJson, writeJson } from '../folder/write-file.ts';
import { ProcessFolder } from './kept-process.ts';

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

  /** The process of the command. */
  get process(): ProcessFolder {
    return new ProcessFolder(this.folder);
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

  /** Deletes the record once the outcome is stored elsewhere. */
  forget(): void {
    discard(this.all);
  }
}
