import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { discard, replace, sync } from '../../folder/write-file.ts';
import { digestOf } from '../../handler/unpack.ts';

/** Maximum size of the cache, unless the machine's owner sets another. */
export const usualCacheBytes = 1024 * 1024 * 1024;

/** Files that executions fetched, by their SHA-256. Scripts use them through symbolic links. */
export class FileCache {
  private readonly folder: string;
  private readonly maxBytes: number;

  constructor(folder: string, maxBytes: number) {
    this.folder = folder;
    this.maxBytes = maxBytes;
  }

  pathOf(sha256: string): string {
    return join(this.folder, sha256);
  }

  /**
   * Returns the path of a file if the cache has it. A script can change a file through its link, so the digest is
   * checked at each use, and a changed file is deleted (MU-55).
   */
  async find(sha256: string): Promise<string | null> {
    const path = this.pathOf(sha256);
    if (!existsSync(path)) return null;
    if ((await digestOf(path)) !== sha256) {
      discard(path);
      return null;
    }
    const now = new Date();
    utimesSync(path, now, now);
    return path;
  }

  /** Returns a path at which to create a file for `add`. An interrupted download may have left a file there. */
  incoming(name: string): string {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    return join(this.folder, `incoming-${name}`);
  }

  /**
   * Moves a complete file into the cache, and returns its path. If the cache is too large, deletes the least recently
   * used files, except those in `kept`, which the execution uses.
   */
  add(file: string, sha256: string, kept: ReadonlySet<string>): string {
    const path = this.pathOf(sha256);
    chmodSync(file, 0o444);
    sync(file);
    replace(file, path);
    this.prune(new Set([...kept, sha256]));
    return path;
  }

  private prune(kept: ReadonlySet<string>): void {
    const files = readdirSync(this.folder)
      .map((name) => ({ name, stat: statSync(join(this.folder, name), { throwIfNoEntry: false }) }))
      .flatMap(({ name, stat }) => (stat === undefined ? [] : [{ name, size: stat.size, usedAt: stat.mtimeMs }]))
      .sort((a, b) => b.usedAt - a.usedAt);
    let bytes = 0;
    for (const { name, size } of files) {
      bytes += size;
      if (bytes > this.maxBytes && !kept.has(name)) discard(join(this.folder, name));
    }
  }
}
