import { linkSync, renameSync, rmSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import type { Layout } from './layout.ts';
import { readText, writeWhole } from './write-file.ts';

/** Takes the folder for this process; two agents in one folder would undo each other's work. */
export function lockFolder(layout: Layout): () => void {
  const ours = `${process.pid} ${startTime(process.pid) ?? ''}\n`;
  const mine = `${layout.lock}.${process.pid}`;
  writeWhole(mine, ours);
  try {
    // Only one of two that start at the same time gets the name.
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

/** Takes what an ended agent left away. Where another one was quicker and it is that one's, it is put back. */
function putAside(layout: Layout): void {
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
export function runningAgent(layout: Layout): number | null {
  const [pid = '', started = ''] = (readText(layout.lock) ?? '').trim().split(' ');
  if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return null;
  // The start time tells a living agent from another program that got its number after a crash.
  return startTime(Number(pid)) === (started || null) && started !== '' ? Number(pid) : null;
}

/** When a process was started, in ticks since the machine was; null where it does not exist. */
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
