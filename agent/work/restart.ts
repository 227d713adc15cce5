import { spawn } from 'node:child_process';
import { sentenceOf } from '../agent-error.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { inheritedEnvironment } from '../handler/environment.ts';
import type { Journal } from '../journal.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Machine } from './machine.ts';

export interface RestartOptions {
  machine: Machine;
  reporter: Reporter;
  journal: Journal;
  /** Shell command that restarts the machine; without it, someone else has to. */
  command?: string;
  /** The agent's environment, of which the command inherits the same part as handlers. */
  environment: Record<string, string | undefined>;
  /** The command failed. */
  onProblem(message: string): void;
}

/**
 * Restarts of the machine that complete an install (AZ-G8). A request is stored on disk until the boot id changes, so a
 * killed agent neither loses nor repeats it.
 */
export class PendingRestart {
  private readonly options: RestartOptions;
  private hasFailed = false;
  private isSaid = false;

  constructor(options: RestartOptions) {
    this.options = options;
  }

  /** Whether the agent restarts the machine itself: then enable waits for that. */
  get isOwn(): boolean {
    return this.options.command !== undefined;
  }

  /** Drops requests from before the current boot. */
  begin(): void {
    const { machine, journal } = this.options;
    if (machine.dropOldRestarts()) {
      machine.save();
      journal.info('The machine has restarted, as an install requested.');
    }
    this.report();
  }

  /** Reports the requests if they changed. The report is stored before this is noted, so it may be sent twice. */
  report(): void {
    const { machine, reporter } = this.options;
    const pending = machine.pendingRestarts();
    const key = JSON.stringify(pending.map(({ handler, version, extensions }) => [handler, version, extensions]));
    if (key === (machine.local.reportedRestart ?? '[]')) return;
    if (!reporter.pendingRestart(pending.map(({ isAsked: _, ...request }) => request))) return;
    crashPoint('restart reported');
    machine.local.reportedRestart = key;
    machine.save();
  }

  /** Another portal, or one whose database was restored, may not know them. */
  reportAgain(): void {
    const { machine } = this.options;
    if (machine.pendingRestarts().length === 0) return;
    delete machine.local.reportedRestart;
    this.report();
  }

  /** Restarts the machine if installs require it and the command has not run in the current boot. */
  request(): void {
    const { machine, journal, command } = this.options;
    const pending = machine.pendingRestarts();
    if (pending.length === 0) return;
    if (command === undefined) {
      const line = `${namesOf(pending)}: the install is complete once this machine has restarted. Restart it when it suits.`;
      if (!this.isSaid) journal.warn(line);
      this.isSaid = true;
    } else if (!this.hasFailed && pending.some(({ isAsked }) => !isAsked)) {
      journal.info(`${namesOf(pending)}: the install is complete once this machine has restarted. Restarting it.`);
      this.run(command);
    }
  }

  private run(command: string): void {
    const { machine, environment } = this.options;
    if (!this.isStored()) return;
    crashPoint('restart');
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: machine.layout.root,
      // Next widens this type by a NODE_ENV that the command does not get.
      env: inheritedEnvironment(environment) as NodeJS.ProcessEnv,
      stdio: 'ignore',
      detached: true,
    });
    crashPoint('restarting');
    child.on('error', (error) => this.failed(`The restart command could not be started: ${error.message}.`));
    // A signal is how the machine's own shutdown ends it.
    child.on('exit', (code) => {
      if (code) this.failed(`The restart command ended with ${code}. It runs again with the next goal state.`);
    });
    child.unref();
    this.note(true);
  }

  /**
   * Whether the installs are stored: otherwise the next start would run them and restart the machine again, endlessly.
   */
  private isStored(): boolean {
    const { machine } = this.options;
    try {
      machine.save();
      return true;
    } catch (error) {
      this.hasFailed = true;
      this.reportProblem(
        `The machine is not restarted: the agent's state could not be written: ${sentenceOf(error)}. Free space on the disk. The restart command runs with the next goal state.`,
      );
      return false;
    }
  }

  private failed(message: string): void {
    this.hasFailed = true;
    this.note(false);
    this.reportProblem(message);
  }

  private reportProblem(message: string): void {
    this.options.journal.warn(message);
    this.options.onProblem(message);
  }

  private note(isAsked: boolean): void {
    const { machine, journal } = this.options;
    machine.noteRestartAsked(isAsked);
    try {
      machine.save();
    } catch (error) {
      journal.warn(`The agent's state could not be written: ${sentenceOf(error)}. Free space on the disk.`);
    }
  }

  /** A new goal state: a failed command may run again. */
  retry(): void {
    this.hasFailed = false;
  }
}

function namesOf(requests: { handler: string; version: string }[]): string {
  return requests.map(({ handler, version }) => `${handler} ${version}`).join(', ');
}
