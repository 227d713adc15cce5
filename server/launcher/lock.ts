import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isAlive, processStart } from '#server/platform/processes.ts';

/** Thrown if another process holds the lock. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  readonly pid: number;

  constructor(pid: number) {
    super(`held by process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Takes a lock file for this process, and returns a function that releases it. Takes over the lock if its process is
 * dead, even if the process id has been reused. Throws a LockedError if another process holds it.
 */
export async function takeLock(file: string): Promise<() => Promise<void>> {
  // Other users may traverse the folder, but not list it, because PostgreSQL may run as another user and must reach its
  // own folder.
  await mkdir(dirname(file), { recursive: true, mode: 0o711 });
  const mine = `${process.pid} ${(await processStart(process.pid)) ?? ''}\n`;
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await writeFile(file, mine, { flag: 'wx', mode: 0o600 });
      return async () => {
        if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await readFile(file, 'utf8').catch(() => '');
    const [pid = '', start = ''] = holder.trim().split(' ');
    if (await holds(Number(pid), start)) throw new LockedError(Number(pid));
    // Renames the stale lock before removing it. If several processes found the stale lock, only one of them can rename
    // it.
    const aside = `${file}.${process.pid}`;
    await rename(file, aside).catch(() => {});
    await rm(aside, { force: true });
  }
  throw new Error(`${file} cannot be taken.`);
}

async function holds(pid: number, start: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !(await isAlive(pid))) return false;
  return start === '' || start === (await processStart(pid));
}
