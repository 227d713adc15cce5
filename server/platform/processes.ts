import { readdir, readFile, readlink } from 'node:fs/promises';

/** Whether a process is running. Zombies do not count as running. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return (await processStat(pid))?.state !== 'Z';
}

/**
 * Returns the start time of a process, to distinguish it from a later process with the same id. Null if there is no
 * `/proc` or the process has ended.
 */
export async function processStart(pid: number): Promise<string | null> {
  return (await processStat(pid))?.start ?? null;
}

async function processStat(pid: number): Promise<{ state: string; start: string } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The program's name is in parentheses and may contain anything, so fields are counted from the last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

/**
 * Returns the processes whose working folder is `folder`. For a PostgreSQL cluster, these are all of its server
 * processes.
 */
export async function processesIn(folder: string): Promise<number[]> {
  return processesWhere((cwd) => cwd === folder);
}

/** Returns the processes whose working folder is `folder` or below it. */
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

/**
 * Ends all processes whose working folder is `folder` or below it, with SIGTERM and, after two seconds, with SIGKILL.
 */
export async function endProcessesBelow(folder: string): Promise<void> {
  const isEmpty = async (): Promise<boolean> => (await processesBelow(folder)).length === 0;
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of await processesBelow(folder)) signal(pid, name);
    if (await waitUntil(isEmpty, 2_000)) return;
  }
}

/** Polls a condition until it is true or this many milliseconds have passed. Returns whether it became true. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  const end = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/**
 * Sends a signal to one process. It is not an error if the process has already ended. Throws RangeError for ids below
 * 1, which would signal a whole process group.
 */
export function signal(pid: number, name: NodeJS.Signals): void {
  if (!Number.isSafeInteger(pid) || pid <= 0) throw new RangeError(`${pid} is not the id of a process.`);
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
