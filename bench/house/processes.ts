import { readdirSync, readFileSync } from 'node:fs';

/** What a process and everything below it used and holds. */
export interface Usage {
  /** CPU time in seconds, of ended children too. */
  cpuSeconds: number;
  /** Memory in bytes; what several of its processes share is counted once. */
  memoryBytes: number;
}

/** The kernel's unit of CPU time (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Reads from /proc what these processes used, each with all that are below it. One that is gone counts as nothing. */
export function readUsage(pids: readonly number[]): Usage {
  const tree = withDescendants(pids);
  let cpuSeconds = 0;
  let own = 0;
  let files = 0;
  let shared = 0;
  for (const pid of tree) {
    cpuSeconds += cpuOf(pid);
    const status = read(`/proc/${pid}/status`);
    own += kilobytes(status, 'RssAnon');
    files = Math.max(files, kilobytes(status, 'RssFile'));
    shared = Math.max(shared, kilobytes(status, 'RssShmem'));
  }
  return { cpuSeconds, memoryBytes: (own + files + shared) * 1024 };
}

function withDescendants(pids: readonly number[]): Set<number> {
  const below = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = Number(statOf(Number(entry))[1] ?? 0);
    below.set(parent, [...(below.get(parent) ?? []), Number(entry)]);
  }
  const found = new Set<number>();
  const add = (pid: number): void => {
    if (found.has(pid)) return;
    found.add(pid);
    for (const child of below.get(pid) ?? []) add(child);
  };
  for (const pid of pids) add(pid);
  return found;
}

/** The fields of `stat` after the name: state, parent, … */
function statOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function cpuOf(pid: number): number {
  const fields = statOf(pid);
  // utime, stime and those of children that were waited for.
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) / ticksPerSecond;
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
