import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessStart } from '../execution/run-process.ts';
import { endMarked, launcher, type ProcessEnd, spawnPiped, untilEnded } from '../execution/run-process.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { discard, readJson, writeJson } from '../folder/write-file.ts';
import { namesIn } from './unit-file.ts';

/** How long processes of an interrupted hook may take to end after SIGTERM. */
const graceSeconds = 2;

/** What the note of a running hook says. */
export interface HookNote {
  unit: string;
  hook: string;
}

export type HookStart = Pick<ProcessStart, 'onOut' | 'onErr' | 'cwd' | 'environment' | 'seconds' | 'signal'> & {
  /** Path of the hook's file. */
  program: string;
};

/**
 * The folder of the running hook, named after its run: a note, and the output pipes. The run's id marks all processes
 * of the hook, so that a restarted agent can end the remaining processes of an interrupted hook (EN-27).
 */
export class HookFolders {
  private readonly all: string;

  constructor(all: string) {
    this.all = all;
  }

  /** Runs a hook to its end. Processes that it leaves in the background keep running. */
  async run(run: string, note: HookNote, start: HookStart): Promise<ProcessEnd> {
    const folder = join(this.all, run);
    writeJson(join(folder, 'note.json'), note);
    const whole = { ...start, running: this.all, args: [] };
    const { child, pipes } = await spawnPiped(folder, run, whole, ['-c', launcher, 'sh', start.program]);
    const end = await untilEnded(child, run, start);
    pipes.finish();
    crashPoint('ended a hook');
    return end;
  }

  /** Deletes the note of a run whose outcome is stored or no longer matters. */
  forget(run: string): void {
    const folder = join(this.all, run);
    if (existsSync(folder)) discard(folder);
  }

  /** The runs that were not finished when the agent ended. */
  get left(): string[] {
    return namesIn(this.all);
  }

  /** Ends the processes that an interrupted run left, and deletes its note. */
  async abandon(run: string): Promise<void> {
    await endMarked(run, graceSeconds);
    this.forget(run);
  }

  /** Returns the hook that is running, or that was interrupted; null if there is none. */
  current(): HookNote | null {
    const [run] = this.left;
    return run === undefined ? null : (readJson(join(this.all, run, 'note.json')) as HookNote | null);
  }
}
