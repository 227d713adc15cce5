import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { beginReasons } from '#protocol/executions/index.ts';
import { momentNow } from '../watch/moment.ts';
import { countReboot } from './api/reboots.ts';
import { CallJournal } from './call-journal.ts';
import type { OpenExecution, StoredProgress } from './inbox.ts';

/** Why a Body runs: for the first time, or again after a restart of the agent or the machine. */
export type BeginReason = (typeof beginReasons)[number];

/**
 * Updates the progress of an execution whose Body is about to run, for the first time or again. If the machine
 * restarted, counts the restart. Returns why the Body runs. The caller stores the progress.
 */
export function beginRun({ folder }: OpenExecution, progress: StoredProgress, boot: string): BeginReason {
  const why = progress.run === 0 ? 'first' : progress.boot === boot ? 'agent' : 'reboot';
  if (why === 'reboot') countReboot(progress, wasAwaited(join(folder, 'journal.jsonl'), progress.boot));
  progress.run += 1;
  progress.begunAt ??= momentNow();
  progress.boot = boot;
  progress.restart = null;
  return why;
}

/** Whether the current call waited for the restart that ended this boot. */
function wasAwaited(path: string, boot: string): boolean {
  if (!existsSync(path)) return false;
  const journal = new CallJournal(path);
  try {
    const last = journal.get(journal.last);
    return last?.answer === undefined && last?.begun?.awaitsRestart === true && last.begun.boot === boot;
  } finally {
    journal.close();
  }
}
