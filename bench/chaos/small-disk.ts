import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own for the data, small enough to be filled. */
export interface SmallDisk {
  /** Where the data goes. */
  folder: string;
  /** Takes all that is free. Null where there is no file system of its own: nobody else's disk is filled. */
  fill: (() => void) | null;
  free(): void;
  remove(): void;
}

/** Room for the log of PostgreSQL at its largest, the fleet, and some hundred thousand reports. */
const size = '4g';
const chunk = Buffer.alloc(1_048_576);

/** Mounts it in memory; where this user may not mount, an ordinary folder takes its place. */
export function openSmallDisk(): SmallDisk {
  const mount = mkdtempSync(join(tmpdir(), 'annex-chaos-'));
  const own = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'annex-chaos', mount]).status === 0;
  const ballast = join(mount, 'ballast');
  const free = (): void => rmSync(ballast, { force: true });
  return {
    folder: join(mount, 'data'),
    fill: own ? () => fillUp(ballast) : null,
    free,
    remove() {
      free();
      if (own) spawnSync('umount', ['--lazy', mount]);
      rmSync(mount, { recursive: true, force: true });
    },
  };
}

function fillUp(file: string): void {
  const opened = openSync(file, 'w');
  try {
    // The last write stores less than was asked for, the next one fails.
    for (;;) writeSync(opened, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(opened);
  }
}
