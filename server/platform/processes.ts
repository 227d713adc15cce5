import { readdir, readFile, readlink } from 'node:fs/promises';

/** Whether a process is running. A zombie, which only waits to be reaped, does not count as running. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return (await processStat(pid))?.state !== 'Z';
}

/**
 * Returns a process id with its start time, so that a reused id is not mistaken for the old process. Null if there is
 * no /proc or if the process has ended.
 */
export async function processStart(pid: number): Promise<string | null> {
  return (await processStat(pid))?.start ?? null;
}

async function processStat(pid: number): Promise<{ state: string; start: string } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name is in parentheses and may contain anything, so fields are counted from the last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

/** Returns the processes whose working folder is this one: for a PostgreSQL cluster, all its server processes. */
export async function processesIn(folder: string): Promise<number[]> {
  return processesWhere((cwd) => cwd === folder);
}

/** Returns the processes whose working folder is this one or below it. */
export async function processesBelow(folder: string): Promise<number[]> {
  return processesWhere((cwd) => cwd === folder || cwd.startsWith(`${folder}/`));
}

async function processesWhere(matches: (cwd: string) => boolean): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const found = await Promise.all(
    entries
      .filter((entry) => /^\d+$/.test(entry))
      .map(async (entry) => (matches(await readlink(`/proc/${entry}/cwd`).catch(() => '')) ? Number(entry) : null)),
  );
  return found.filter((pid) => pid !== null);
}

/** Polls a condition until it is true or until this many milliseconds have passed. Returns whether it became true. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  const end = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/**
 * Sends a signal to one process. It is not an error if the process has already ended. Throws RangeError for 0 and
 * below: these would signal a process group, and 0 the caller's own.
 */
export function signal(pid: number, name: NodeJS.Signals): void {
  if (!Number.isSafeInteger(pid) || pid <= 0) throw new RangeError(`${pid} is not the id of a process.`);
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
