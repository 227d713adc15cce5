import { linkSync, renameSync, rmSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from './layout.ts';
import { readText, writeAtomically } from './write-file.ts';

/**
 * Locks the folder for this process, because two agents in one folder would undo each other's work. Returns a function
 * that releases the lock.
 */
export function lockFolder(layout: AgentLayout): () => void {
  const ours = `${process.pid} ${startTime(process.pid) ?? ''}\n`;
  const mine = `${layout.lock}.${process.pid}`;
  writeAtomically(mine, ours);
  try {
    // If two processes start at the same time, only one of them can create the link.
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

/** Removes the lock of an agent that has ended. Restores it if it turns out to belong to a running agent. */
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

/** Returns the process id of another agent that runs in this folder, or null. */
export function runningAgent(layout: AgentLayout): number | null {
  const [pid = '', started = ''] = (readText(layout.lock) ?? '').trim().split(' ');
  if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return null;
  // The start time distinguishes the agent from a program that got the same process id after a crash.
  return startTime(Number(pid)) === (started || null) && started !== '' ? Number(pid) : null;
}

/** Returns the start time of a process in ticks since boot; null if the process has ended. */
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
