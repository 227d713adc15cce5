import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder for the data: if possible, on a separate file system that is small enough to be filled. */
export interface SmallDisk {
  folder: string;
  /** Fills all free space. Null if the folder is on the machine's own disk, which must not be filled. */
  fill: (() => void) | null;
  free(): void;
  remove(): void;
}

/** Space for PostgreSQL's write-ahead log at its largest, the fleet, and several hundred thousand reports. */
const size = '4g';
const chunk = Buffer.alloc(1_048_576);

/** Mounts an in-memory file system. Without permission to mount, uses an ordinary folder. */
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
    // The loop ends when the disk is full: the last write is partial, and the next write throws ENOSPC.
    for (;;) writeSync(opened, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(opened);
  }
}
