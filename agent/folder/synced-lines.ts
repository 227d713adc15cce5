import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { crashPoint } from './crash-point.ts';
import { writeAll } from './write-file.ts';

/** A file to which lines are appended. After a power failure, it has all lines up to the last synced one. */
export class SyncedLines {
  private readonly file: number;
  private readonly what: string;
  private bytes = 0;

  /**
   * Opens the file, and creates it if there is none. Calls `take` with each line and its offset. Truncates the file
   * before an incomplete line, and before the first line for which `take` returns false. Synced lines are always whole
   * and valid. `what` names the file for tests.
   */
  constructor(path: string, what: string, take: (text: string, offset: number) => boolean) {
    this.what = what;
    this.file = openSync(path, 'a+', 0o600);
    const bytes = readFileSync(this.file);
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', this.bytes)) {
      if (!take(bytes.toString('utf8', this.bytes, end), this.bytes)) break;
      this.bytes = end + 1;
    }
    if (fstatSync(this.file).size > this.bytes) this.cut(this.bytes);
    // An agent that was killed may have written a line without syncing it.
    if (this.bytes > 0) fdatasyncSync(this.file);
  }

  /** Size of the file. */
  get size(): number {
    return this.bytes;
  }

  /** Appends a line, and syncs it and all earlier lines. Throws if the disk is full; the file is then unchanged. */
  append(line: string): void {
    this.write(line, true);
  }

  /** Appends a line that a power failure may lose until a later line is synced. Throws as `append` does. */
  appendUnsynced(line: string): void {
    this.write(line, false);
  }

  /** Truncates the file to this size. */
  cut(size: number): void {
    crashPoint(`cut ${this.what}`);
    ftruncateSync(this.file, size);
    this.bytes = size;
  }

  close(): void {
    closeSync(this.file);
  }

  private write(line: string, isSynced: boolean): void {
    const bytes = Buffer.from(`${line}\n`);
    crashPoint(`write ${this.what}`);
    try {
      writeAll(this.file, bytes);
      if (isSynced) {
        crashPoint(`sync ${this.what}`);
        fdatasyncSync(this.file);
      }
    } catch (error) {
      this.cut(this.bytes);
      throw error;
    }
    this.bytes += bytes.length;
  }
}
