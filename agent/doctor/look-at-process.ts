import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runningAgent } from '../folder/lock.ts';
import { type Finding, verdictsOf } from './finding.ts';
import type { Patient } from './patient.ts';

const { good, advice } = verdictsOf('process');
/** A report that waits for longer is no matter of a moment. */
const waitedSeconds = 300;

/** Whether an agent works in the folder, and gets rid of its reports. */
export function lookAtProcess({ layout }: Patient): Finding[] {
  const process = runningAgent(layout);
  if (process === null) {
    const toDo = `Start it: run --dir ${layout.root}, or systemctl start annex-agent.`;
    return [advice({ what: 'No agent runs in this folder.', toDo })];
  }
  const { count, seconds } = waitingReports(layout.reports);
  if (seconds < waitedSeconds) return [good(`The agent runs as process ${process}.`)];
  const what = `The agent runs as process ${process}; ${count} reports wait, the oldest for ${Math.round(seconds / 60)} min.`;
  return [advice({ what, toDo: 'See what the portal says below, and: logs' })];
}

function waitingReports(folder: string): { count: number; seconds: number } {
  try {
    const [oldest, ...more] = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
    if (oldest === undefined) return { count: 0, seconds: 0 };
    return { count: 1 + more.length, seconds: (Date.now() - statSync(join(folder, oldest)).mtimeMs) / 1000 };
  } catch {
    return { count: 0, seconds: 0 };
  }
}
