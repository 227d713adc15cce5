import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { examine } from '../doctor/examine.ts';
import type { ExaminedMachine } from '../doctor/examined-machine.ts';
import type { DoctorFinding } from '../doctor/finding.ts';
import { layoutOf } from '../folder/layout.ts';

export interface DoctorOptions
  extends Pick<
    ExaminedMachine,
    'call' | 'portal' | 'configurationFault' | 'rebootCommand' | 'bootIdFile' | 'amqp' | 'executionPlans'
  > {
  dir: string;
  json?: boolean;
}

const marks: Record<DoctorFinding['verdict'], string> = { good: 'ok', advice: 'advice', bad: 'BAD' };

/** Prints all findings. Returns whether the agent can work. */
export async function doctor(options: DoctorOptions, print: (line: string) => void): Promise<boolean> {
  const findings = await examine({ ...options, layout: layoutOf(options.dir), space, mayRun });
  const bad = findings.filter(({ verdict }) => verdict === 'bad');
  if (options.json) print(JSON.stringify({ ok: bad.length === 0, findings }, null, 2));
  else print([...findings.map(lineOf), '', summaryOf(findings)].join('\n'));
  return bad.length === 0;
}

function lineOf({ check, verdict, what, toDo }: DoctorFinding): string {
  const line = `${marks[verdict].padEnd(7)} ${check.padEnd(14)} ${what.replaceAll('\n', `\n${' '.repeat(23)}`)}`;
  return toDo === undefined ? line : `${line}\n${' '.repeat(23)}→ ${toDo}`;
}

function summaryOf(findings: DoctorFinding[]): string {
  const count = (verdict: DoctorFinding['verdict']) => findings.filter((each) => each.verdict === verdict).length;
  if (count('bad') > 0) return `${count('bad')} of ${findings.length} findings keep the agent from working.`;
  return count('advice') > 0 ? 'The agent can work; see the advice above.' : 'No problems found.';
}

async function space(path: string) {
  const { bavail, bsize, ffree, files } = await statfs(path);
  return { freeBytes: bavail * bsize, freeFiles: ffree, allFiles: files };
}

function mayRun(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(path, { timeout: 5_000 }, (error) => resolve(error === null));
  });
}
