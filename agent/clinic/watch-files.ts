import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { heartbeatFile, read, statusFile } from '#protocol/index.ts';
import { wait } from '../portal/wait.ts';
import { readDocument } from '../watch/read-document.ts';
import { faultSentence } from './fault-sentence.ts';
import type { HeartbeatSeen, StatusSeen, TrialStage } from './observations.ts';

const lookSeconds = 0.1;
/**
 * How far a file's modification time may be ahead of the clock, in seconds, because file systems round times. If it is
 * further ahead, the handler has set a wrong time.
 */
const maxAheadSeconds = 10;

export interface Patience {
  /** How long a file may take to appear. */
  statusSeconds: number;
  /** How long a status may take to become success or error. */
  settleSeconds: number;
  /** How long to wait until the heartbeat is written again; 0 skips the check. */
  heartbeatSeconds: number;
}

/**
 * Reads a status file until its status is success or error, or the time is up. `since` is when enable started, in
 * milliseconds.
 */
export async function watchStatus(
  path: string,
  stage: TrialStage,
  since: number,
  { statusSeconds, settleSeconds }: Patience,
): Promise<StatusSeen> {
  const file = basename(path);
  const until = since + statusSeconds * 1000;
  while (!existsSync(path) && Date.now() < until) await wait(lookSeconds, []);
  if (!existsSync(path)) return { stage, file, seconds: null, faults: [], raw: null, document: null };
  const seconds = (Date.now() - since) / 1000;
  const settled = Date.now() + settleSeconds * 1000;
  for (;;) {
    const { raw, faults } = await rawOf(path);
    const parsed = faults.length > 0 ? { faults: [] } : read(statusFile, raw);
    const document = 'value' in parsed ? parsed.value : null;
    const all = [...faults, ...('faults' in parsed ? parsed.faults.map(faultSentence) : [])];
    const isOver = document?.status === 'success' || document?.status === 'error' || Date.now() >= settled;
    // A file that cannot be parsed may still be incomplete. It counts as a fault only after the time allowed for a
    // status to appear.
    if (isOver || (all.length > 0 && Date.now() >= until)) return { stage, file, seconds, faults: all, raw, document };
    await wait(lookSeconds, []);
  }
}

/** Reads a heartbeat file, then waits until it is written again or the time is up. */
export async function watchHeartbeat(path: string, since: number, patience: Patience): Promise<HeartbeatSeen> {
  const until = since + patience.statusSeconds * 1000;
  while (!existsSync(path) && Date.now() < until) await wait(lookSeconds, []);
  if (!existsSync(path)) return { seconds: null, faults: [], document: null, isRenewed: null };
  const seconds = (Date.now() - since) / 1000;
  const { raw, faults } = await rawOf(path);
  const parsed = faults.length > 0 ? { faults: [] } : read(heartbeatFile, raw);
  const ahead = Math.round(((timeOf(path) ?? 0) - Date.now()) / 1000);
  const all = [
    ...faults,
    ...('faults' in parsed ? parsed.faults.map(faultSentence) : []),
    // The agent calculates a heartbeat's age from the file's modification time, so the modification time must be right.
    ...(ahead > maxAheadSeconds ? [`The time of the file is ${ahead} s ahead of the clock.`] : []),
  ];
  const document = 'value' in parsed && all.length === 0 ? parsed.value : null;
  const isRenewed = document === null || patience.heartbeatSeconds === 0 ? null : await isWrittenAgain(path, patience);
  return { seconds, faults: all, document, isRenewed };
}

async function isWrittenAgain(path: string, { heartbeatSeconds }: Patience): Promise<boolean> {
  const before = timeOf(path);
  const until = Date.now() + heartbeatSeconds * 1000;
  while (timeOf(path) === before && Date.now() < until) await wait(lookSeconds, []);
  return timeOf(path) !== before;
}

function timeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

async function rawOf(path: string): Promise<{ raw: unknown; faults: string[] }> {
  try {
    const found = await readDocument(path);
    return { raw: found?.file ?? null, faults: [] };
  } catch {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts !== undefined && !facts.isFile()) return { raw: null, faults: ['It is not a plain file.'] };
    return { raw: null, faults: [`It is not valid JSON, or incomplete (${facts?.size ?? 0} bytes).`] };
  }
}
