import { join } from 'node:path';
import { sentenceOf } from '../../agent-error.ts';
import type { Inbox, OpenExecution, StoredProgress } from '../../execution/inbox.ts';
import { Transcript } from '../../execution/transcript.ts';
import type { Journal } from '../../journal.ts';
import { wait } from '../../portal/wait.ts';
import { momentNow, secondsSince } from '../../watch/moment.ts';
import { runRestartCommand } from '../restart-command.ts';

/** How long a result waits for the restart that its plan requested with `api.reboot`. */
const patienceSeconds = 600;

export interface PlanRestartOptions {
  inbox: Inbox;
  journal: Journal;
  /** Id of the current boot. */
  boot: string;
  /** Shell command that restarts the machine. */
  command?: string;
  environment: Record<string, string | undefined>;
  /** Aborted when the agent stops. */
  signal: AbortSignal;
}

/** Whether the result of an execution waits for a restart of the machine. */
export function awaitsRestart({ result }: OpenExecution, { restart }: StoredProgress, boot: string): boolean {
  return result !== null && restart !== null && restart.boot === boot;
}

/** Notes that the machine restarts before the result of an execution is sent. Call this before the result is stored. */
export function requestRestart(progress: StoredProgress, boot: string): void {
  progress.restart = { boot, since: momentNow(), isAsked: false };
}

/**
 * Restarts the machine after a plan that called `api.reboot` (MU-15). Resolves to true if the restart failed or did not
 * happen in time, so that the result must be sent now; to false if the agent was stopped.
 */
export async function restartForPlan(
  open: OpenExecution,
  progress: StoredProgress,
  { inbox, journal, command, environment, signal }: PlanRestartOptions,
): Promise<boolean> {
  const { restart } = progress;
  if (restart === null) return true;
  const failed = new AbortController();
  let why = `The machine was not restarted within ${patienceSeconds} s.`;
  if (command === undefined) {
    why = 'The machine was not restarted: its agent no longer has a restart command.';
    failed.abort();
  } else if (!restart.isAsked) {
    journal.info(`Execution ${open.planId}: restarts the machine.`);
    runRestartCommand({
      ...{ command, environment, cwd: open.folder },
      onFailure: (failure) => {
        const what =
          'message' in failure ? `could not be started: ${failure.message}` : `exited with ${failure.exitCode}`;
        why = `The machine was not restarted: the restart command ${what}.`;
        failed.abort();
      },
    });
    restart.isAsked = true;
    try {
      inbox.writeProgress(open, progress);
    } catch (error) {
      journal.warn(`The progress of an execution could not be stored: ${sentenceOf(error)}.`);
    }
  }
  await wait(patienceSeconds - secondsSince(restart.since), [signal, failed.signal]);
  if (signal.aborted) return false;
  journal.warn(`Execution ${open.planId}: ${why}`);
  addNote(open, progress, why);
  return true;
}

function addNote({ folder }: OpenExecution, { begunAt }: StoredProgress, text: string): void {
  const ms = () => (begunAt === null ? 0 : secondsSince(begunAt) * 1000);
  const transcript = new Transcript(join(folder, 'transcript.jsonl'), ms);
  transcript.add('note', text);
  transcript.finish();
}
