import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runningAgent } from '../folder/lock.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { good, advice } = verdictsOf('process');
/** A report that waits longer than this is stuck. */
const waitedSeconds = 300;

/** Checks that an agent runs in the folder and that its reports are sent. */
export function checkProcess({ layout }: ExaminedMachine): DoctorFinding[] {
  const process = runningAgent(layout);
  if (process === null) {
    const toDo = `Start it: run --dir ${layout.root}, or systemctl start annex-agent.`;
    return [advice({ what: 'No agent is running in this folder.', toDo })];
  }
  const { count, seconds } = waitingReports(layout.reports);
  if (seconds < waitedSeconds) return [good(`The agent is running as process ${process}.`)];
  const what = `The agent is running as process ${process}; ${count} reports are waiting, the oldest for ${Math.round(seconds / 60)} min.`;
  return [advice({ what, toDo: 'See the check of the portal below, and run: logs' })];
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
