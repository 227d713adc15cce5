import { readdirSync, readFileSync } from 'node:fs';

/** CPU time and memory of a process and its descendants. */
export interface Usage {
  /** CPU time in seconds, including that of child processes that have ended. */
  cpuSeconds: number;
  /** Memory in bytes. Memory that the processes share is counted once. */
  memoryBytes: number;
}

/** The kernel's unit of CPU time (USER_HZ), the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Reads the usage of a process and its descendants from /proc. Returns zeros for a process that has ended. */
export function readUsage(pid: number): Usage {
  return readUsages({ it: pid }).it ?? { cpuSeconds: 0, memoryBytes: 0 };
}

/**
 * Reads the usage of several processes in one pass over /proc. If one of them descends from another, its usage is not
 * included in the ancestor's.
 */
export function readUsages<Name extends string>(pids: Readonly<Record<Name, number>>): Record<Name, Usage> {
  const stats = new Map<number, string[]>();
  const below = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const pid = Number(entry);
    const stat = statOf(pid);
    const parent = Number(stat[1] ?? 0);
    stats.set(pid, stat);
    below.set(parent, [...(below.get(parent) ?? []), pid]);
  }
  const named = new Set(Object.values<number>(pids));
  const childrenOf = (pid: number): number[] => (below.get(pid) ?? []).filter((child) => !named.has(child));
  const withBelow = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(withBelow)];
  return Object.fromEntries(
    Object.entries<number>(pids).map(([name, pid]) => [name, usageOf(withBelow(pid), stats)]),
  ) as Record<Name, Usage>;
}

function usageOf(pids: readonly number[], stats: ReadonlyMap<number, string[]>): Usage {
  let ticks = 0;
  let own = 0;
  let files = 0;
  let shared = 0;
  for (const pid of pids) {
    // utime and stime, then cutime and cstime, which count child processes that have ended.
    const stat = stats.get(pid) ?? [];
    ticks += [11, 12, 13, 14].reduce((sum, at) => sum + Number(stat[at] ?? 0), 0);
    const status = read(`/proc/${pid}/status`);
    own += kilobytes(status, 'RssAnon');
    files = Math.max(files, kilobytes(status, 'RssFile'));
    shared = Math.max(shared, kilobytes(status, 'RssShmem'));
  }
  return { cpuSeconds: ticks / ticksPerSecond, memoryBytes: (own + files + shared) * 1024 };
}

/**
 * Returns the CPU time of a process in milliseconds, without its child processes. The kernel counts nanoseconds, so
 * even the cost of a few hundred calls is measurable. Threads that have ended are not counted.
 */
export function readCpuMs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(folder).map((task) => Number(read(`${folder}/${task}/schedstat`).split(' ')[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1_000_000;
}

/** Returns the fields of `stat` after the process name: state, parent, … */
function statOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
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
