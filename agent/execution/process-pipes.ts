import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OutputPipe } from '../handler/output-pipe.ts';

export interface OutputReaders {
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
}

const runFile = promisify(execFile);

/** The named pipes in the folder of a process, for its output. They outlive the agent. */
export class ProcessPipes {
  private readonly pipes: OutputPipe[];

  private constructor(pipes: OutputPipe[]) {
    this.pipes = pipes;
  }

  static async create(folder: string): Promise<void> {
    await runFile('mkfifo', ['-m', '600', ...pathsIn(folder)]);
  }

  /**
   * Opens the pipes as the output of a new process. The process also has them open for reading, because SIGPIPE kills a
   * process that writes to a pipe without readers. Close the descriptors once the process has started.
   */
  static openWriters(folder: string): [number, number] {
    const [out, err] = pathsIn(folder);
    return [openSync(out, constants.O_RDWR), openSync(err, constants.O_RDWR)];
  }

  /** Begins to read the pipes. */
  static read(folder: string, { onOut, onErr }: OutputReaders): ProcessPipes {
    const [out, err] = pathsIn(folder);
    return new ProcessPipes([new OutputPipe(out, onOut), new OutputPipe(err, onErr)]);
  }

  /** Reads the rest of the output. Never throws, because the exit code is valid even if the output cannot be read. */
  finish(): void {
    for (const pipe of this.pipes) {
      try {
        pipe.finish();
      } catch {
        pipe.close();
      }
    }
  }

  /** Reads the output that is already in the pipes. Never throws. */
  drain(): void {
    for (const pipe of this.pipes) {
      try {
        pipe.drain();
      } catch {
        // The folder may have been deleted after the end of the process.
      }
    }
  }

  /** Stops reading. What the process writes from now on stays in the pipes. */
  close(): void {
    for (const pipe of this.pipes) pipe.close();
  }
}

/** Closes descriptors that `openWriters` returned. */
export function closeAll(descriptors: readonly number[]): void {
  for (const each of descriptors) closeSync(each);
}

const pathsIn = (folder: string): [string, string] => [join(folder, 'out'), join(folder, 'err')];
