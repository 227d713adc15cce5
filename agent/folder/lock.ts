import { linkSync, renameSync, rmSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from './layout.ts';
import { readText, writeAtomically } from './write-file.ts';

/** Locks the folder for this process; two agents in one folder would undo each other's work. */
export function lockFolder(layout: AgentLayout): () => void {
  const ours = `${process.pid} ${startTime(process.pid) ?? ''}\n`;
  const mine = `${layout.lock}.${process.pid}`;
  writeAtomically(mine, ours);
  try {
    // Only one of two processes that start at the same time gets the name.
    while (!isLinked(mine, layout.lock)) {
      const holder = runningAgent(layout);
      if (holder !== null) {
        throw new AgentError(
          `Another agent, process ${holder}, works in ${layout.root}. Stop it first, or give this one its own --dir.`,
        );
      }
      putAside(layout);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => {
    if (readText(layout.lock) === ours) rmSync(layout.lock, { force: true });
  };
}

/** Removes the lock of an agent that ended. If another process was faster and the lock is its own, it is restored. */
function putAside(layout: AgentLayout): void {
  const aside = { ...layout, lock: `${layout.lock}.${process.pid}.old` };
  try {
    renameSync(layout.lock, aside.lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (runningAgent(aside) !== null) isLinked(aside.lock, layout.lock);
  rmSync(aside.lock, { force: true });
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The process id of the agent that runs in this folder, or null. */
export function runningAgent(layout: AgentLayout): number | null {
  const [pid = '', started = ''] = (readText(layout.lock) ?? '').trim().split(' ');
  if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return null;
  // The start time distinguishes a living agent from a program that reuses its process id after a crash.
  return startTime(Number(pid)) === (started || null) && started !== '' ? Number(pid) : null;
}

/** Start time of a process in ticks since boot; null if it does not exist. */
function startTime(pid: number): string | null {
  const stat = readStat(pid);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : (fields[19] ?? null);
}

function readStat(pid: number): string | null {
  try {
    return readText(`/proc/${pid}/stat`);
  } catch {
    return null;
  }
}
