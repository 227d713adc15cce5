import { rmSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import type { Layout } from './layout.ts';
import { readText, writeWhole } from './write-file.ts';

/** Takes the folder for this process; two agents in one folder would undo each other's work. */
export function lockFolder(layout: Layout): () => void {
  const holder = runningAgent(layout);
  if (holder !== null) {
    throw new AgentError(
      `Another agent, process ${holder}, works in ${layout.root}. Stop it first, or give this one its own --dir.`,
    );
  }
  writeWhole(layout.lock, `${process.pid} ${startTime(process.pid) ?? ''}\n`);
  return () => rmSync(layout.lock, { force: true });
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
