import { sentenceOf } from '../agent-error.ts';
import { crashPoint } from '../folder/crash-point.ts';
import type { Journal } from '../journal.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Machine } from './machine.ts';
import { runRestartCommand } from './restart-command.ts';

export interface RestartOptions {
  machine: Machine;
  reporter: Reporter;
  journal: Journal;
  /** Shell command that restarts the machine. If absent, the agent does not restart the machine. */
  command?: string;
  /** The agent's environment; the command inherits the same part of it as handlers do. */
  environment: Record<string, string | undefined>;
  /** Called when the machine cannot be restarted. */
  onProblem(message: string): void;
}

/**
 * Restarts the machine to complete an install (AZ-G8). A request stays on disk until the boot id changes, so it is not
 * lost if the agent is killed.
 */
export class PendingRestart {
  private readonly options: RestartOptions;
  private hasFailed = false;
  private isReported = false;

  constructor(options: RestartOptions) {
    this.options = options;
  }

  /** Whether the agent restarts the machine itself; `enable` then waits for the restart. */
  get restartsMachine(): boolean {
    return this.options.command !== undefined;
  }

  /** Drops requests from earlier boots and reports the other requests. */
  begin(): void {
    const { machine, journal } = this.options;
    if (machine.dropOldRestarts()) {
      machine.save();
      journal.info('The machine has restarted, as an install requested.');
    }
    this.report();
  }

  /**
   * Reports the requests if they changed. Stores the report first and then notes the requests as reported, so an agent
   * that is killed in between reports them twice rather than never.
   */
  report(): void {
    const { machine, reporter } = this.options;
    const pending = machine.pendingRestarts();
    const key = JSON.stringify(pending.map(({ handler, version, extensions }) => [handler, version, extensions]));
    if (key === (machine.local.reportedRestart ?? '[]')) return;
    if (
      !reporter.pendingRestart(
        pending.map(({ isAsked: _, ...request }) => ({ ...request, byAgent: this.restartsMachine })),
      )
    )
      return;
    crashPoint('restart reported');
    machine.local.reportedRestart = key;
    machine.save();
  }

  /** Reports the requests again: a different portal, or a portal whose database was restored, may not know them. */
  reportAgain(): void {
    const { machine } = this.options;
    if (machine.pendingRestarts().length === 0) return;
    delete machine.local.reportedRestart;
    this.report();
  }

  /**
   * Runs the restart command unless it has already run for every install that requires a restart. A command that failed
   * runs again only with the next goal state. Without a command, logs that a restart is required.
   */
  request(): void {
    const { machine, journal, command } = this.options;
    const pending = machine.pendingRestarts();
    if (pending.length === 0) return;
    if (command === undefined) {
      const line = `${namesOf(pending)}: the install is complete once this machine has restarted. Restart it when convenient.`;
      if (!this.isReported) journal.warn(line);
      this.isReported = true;
    } else if (!this.hasFailed && pending.some(({ isAsked }) => !isAsked)) {
      journal.info(`${namesOf(pending)}: the install is complete once this machine has restarted. Restarting it.`);
      this.run(command);
    }
  }

  private run(command: string): void {
    const { machine, environment } = this.options;
    if (!this.isStored()) return;
    runRestartCommand({
      ...{ command, environment, cwd: machine.layout.root },
      onFailure: (why) =>
        this.failed(
          'message' in why
            ? `The restart command could not be started: ${why.message}.`
            : `The restart command exited with ${why.exitCode}. It runs again with the next goal state.`,
        ),
    });
    this.note(true);
  }

  /**
   * Stores which installs have run. Returns false if that fails. Without the record, the installs would run again after
   * each restart and require yet another restart.
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
    machine.noteRestartCommand(isAsked);
    try {
      machine.save();
    } catch (error) {
      journal.warn(`The agent's state could not be written: ${sentenceOf(error)}. Free space on the disk.`);
    }
  }

  /** Allows a failed restart command to run again, because there is a new goal state. */
  retry(): void {
    this.hasFailed = false;
  }
}

function namesOf(requests: { handler: string; version: string }[]): string {
  return requests.map(({ handler, version }) => `${handler} ${version}`).join(', ');
}
