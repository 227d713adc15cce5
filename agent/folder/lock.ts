import { linkSync, renameSync, rmSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from './layout.ts';
import { readText, writeAtomically } from './write-file.ts';

/**
 * Locks the folder for this process, because two agents in one folder would undo each other's work. Returns a function
 * that releases the lock.
 */
export function lockFolder(layout: AgentLayout): () => void {
  return takeLock(
    layout.lock,
    (holder) =>
      `Another agent, process ${holder}, works in ${layout.root}. Stop it first, or give this one its own --dir.`,
  );
}

/** Locks updates of the agent in this folder. Returns a function that releases the lock. */
export function lockUpdates(layout: AgentLayout): () => void {
  return takeLock(layout.updateLock, (holder) => `Another update is running, process ${holder}. Wait until it ends.`);
}

/** Creates the lock. Throws AgentError if another process holds the lock. */
function takeLock(lock: string, refusal: (holder: number) => string): () => void {
  const ours = `${process.pid} ${startTime(process.pid) ?? ''}\n`;
  const mine = `${lock}.${process.pid}`;
  writeAtomically(mine, ours);
  try {
    // If two processes start at the same time, only one of them can create the link.
    while (!isLinked(mine, lock)) {
      const holder = holderOf(lock);
      if (holder !== null) throw new AgentError(refusal(holder));
      putAside(lock);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => {
    if (readText(lock) === ours) rmSync(lock, { force: true });
  };
}

/** Removes the lock of a process that has ended. Restores the lock if its process turns out to be running. */
function putAside(lock: string): void {
  const aside = `${lock}.${process.pid}.old`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (holderOf(aside) !== null) isLinked(aside, lock);
  rmSync(aside, { force: true });
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
export const runningAgent = (layout: AgentLayout): number | null => holderOf(layout.lock);

/** Returns the id of the other process that holds a lock, or null. */
function holderOf(lock: string): number | null {
  const [pid = '', started = ''] = (readText(lock) ?? '').trim().split(' ');
  if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return null;
  // The start time distinguishes the process from a program that got its id after a crash.
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
