import { join } from 'node:path';
import {
  type CommandName,
  type ExtensionStep,
  markDone,
  noteStatusWord,
  noteSuccess,
  statusFileName,
} from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { foldersOf } from '../../handler/folders.ts';
import type { Outcome } from '../../handler/run-command.ts';
import type { CommandRecord } from '../../handler/running-command.ts';
import { executeStep, forgetCommand, logOutcome, resumeStep } from './execute-step.ts';
import { ExitCodes } from './exit-codes.ts';
import type { ExtensionRound } from './extension-round.ts';
import { reportedStatesOf } from './reported-states.ts';
import type { RunnerOptions } from './runner-options.ts';

/** Runs handler commands, stores their outcomes and reports them. */
export class CommandSteps {
  private readonly options: RunnerOptions;
  private readonly signal: AbortSignal;

  constructor(options: RunnerOptions, signal: AbortSignal) {
    this.options = options;
    this.signal = signal;
  }

  async run(step: ExtensionStep, kind: CommandName, round: ExtensionRound): Promise<void> {
    const { machine, observer, journal, restart } = this.options;
    const [name = ''] = step.extensions;
    const { during, after, isFatal } = reportedStatesOf(step);
    const attempt = machine.countAttempt(step.extensions, kind, step.version);
    const ran = { command: kind, commandVersion: step.version, attempt };
    for (const each of step.extensions) machine.reportState(each, during, ran);
    this.save();
    if (step.purpose === 'goal') this.followFiles(step, kind, round);
    journal.note(`${name}: ${kind} ${step.version} begins`, { handler: step.handler, attempt });
    const outcome = await this.execute(step, kind, attempt, round.exitCodes, this.signal);
    if (this.signal.aborted) return;
    round.exitCodes.note(step, kind, outcome.exitCode);
    const isGood = outcome.exitCode === 0;
    if (isGood) this.noteSuccess(step, kind, machine.boot);
    if (isGood || !isFatal) markDone(step, round);
    else for (const each of step.extensions) round.failed.add(each);
    const stays = !isGood && kind === 'update' ? `\nVersion ${step.from} stays on this machine, disabled.` : '';
    for (const each of step.extensions) {
      machine.reportState(each, isGood || !isFatal ? (after ?? during) : 'failed', {
        ...ran,
        exitCode: outcome.exitCode ?? undefined,
        timedOut: outcome.timedOut,
        output: outcome.output + stays,
      });
    }
    this.keepOutput(outcome, kind, attempt, sequencesOf(step, this.options));
    if (this.save()) forgetCommand(machine);
    restart.report();
    if (kind === 'enable' || (kind === 'disable' && step.purpose === 'goal')) {
      const word = await observer.readStatus(name);
      if (word !== null) noteStatusWord(round, name, word);
    }
  }

  /**
   * Completes a command that was running when the agent was killed, so that an install that exited with 0 does not run
   * again (AZ-G3). Later steps are planned again, as at every start of the agent.
   */
  async resume(): Promise<void> {
    const { machine, journal } = this.options;
    const found = await resumeStep({ machine, journal, signal: this.signal });
    if (this.signal.aborted) return;
    if (found === null) {
      forgetCommand(machine);
      return;
    }
    const { record, outcome } = found;
    const { kind, attempt } = record;
    const step: ExtensionStep = { ...record, extensions: record.extensions.map(({ name }) => name) };
    const isGood = outcome.exitCode === 0;
    logOutcome(journal, step, kind, outcome);
    if (isGood) this.noteSuccess(step, kind, record.boot ?? machine.boot);
    const { during, after, isFatal } = reportedStatesOf(step);
    for (const { name, sequenceNumber } of record.extensions) {
      const state = isGood || !isFatal ? (after ?? during) : 'failed';
      const { exitCode, timedOut, output } = outcome;
      machine.reportState(
        name,
        state,
        { command: kind, commandVersion: step.version, attempt, exitCode: exitCode ?? undefined, timedOut, output },
        sequenceNumber,
      );
    }
    this.keepOutput(outcome, kind, attempt, record.extensions);
    if (this.save()) forgetCommand(machine);
  }

  /** For demos and tests: disables one extension without reporting it. */
  async disableQuietly(step: ExtensionStep): Promise<void> {
    await this.execute(step, 'disable', 1, new ExitCodes());
    forgetCommand(this.options.machine);
  }

  private async execute(
    step: ExtensionStep,
    kind: CommandName,
    attempt: number,
    codes: ExitCodes,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const { machine, environment, journal } = this.options;
    const isNamed = machine.versionOf(step)?.supportsMultipleExtensions === true;
    const exitCodes = codes.variablesFor(step, kind, isNamed);
    const outcome = await executeStep({ machine, journal, step, kind, attempt, exitCodes, environment, signal });
    if (!signal?.aborted) logOutcome(journal, step, kind, outcome);
    return outcome;
  }

  /** Notes a command that exited with 0, and the restart that it requests (AZ-G3, AZ-G8). */
  private noteSuccess(step: ExtensionStep, kind: CommandName, boot: string): void {
    const { machine, observer } = this.options;
    const version = machine.versionOf(step);
    if (kind === 'disable' && step.purpose === 'goal') {
      for (const name of step.extensions) observer.ignoreHeartbeat(name);
    }
    if (version === undefined) return;
    noteSuccess({ ...step, kind }, machine.local);
    if ((kind !== 'install' && kind !== 'update') || !version.installed) return;
    if (version.rebootAfterInstall) machine.noteRestartWanted(version, boot);
  }

  /**
   * Starts reading the files that a command may write: the status for enable and disable and, if the manifest declares
   * a heartbeat, the heartbeat for every command except disable (AZ-H2).
   */
  private followFiles(step: ExtensionStep, kind: CommandName, round: ExtensionRound): void {
    const { observer, machine } = this.options;
    const folders = foldersOf(machine.layout, step.handler, step.version);
    for (const name of step.extensions) {
      if (machine.versionOf(step)?.reportHeartbeat && kind !== 'disable') {
        observer.followHeartbeat(name, folders.heartbeatFile);
      } else observer.ignoreHeartbeat(name);
      if (kind !== 'enable' && kind !== 'disable') continue;
      const sequenceNumber = machine.goalOf(name)?.sequenceNumber ?? 0;
      delete round.statuses[name];
      const isNamed = machine.versionOf(step)?.supportsMultipleExtensions === true;
      const file = statusFileName(sequenceNumber, isNamed ? name : undefined);
      observer.followStatus(name, sequenceNumber, join(folders.statusFolder, file));
    }
  }

  /** Uploads the complete output; the report contains only the end of it. */
  private keepOutput(
    { outputFile }: Outcome,
    command: CommandName,
    attempt: number,
    extensions: CommandRecord['extensions'],
  ): void {
    if (outputFile === undefined) return;
    for (const { name, sequenceNumber } of extensions) {
      this.options.sendOutput({ extension: name, command, attempt, sequence: sequenceNumber, file: outputFile });
    }
  }

  /**
   * Saves the agent's state. Returns whether that worked; a full disk does not stop the work, and the next step saves
   * again.
   */
  save(): boolean {
    const { machine, journal } = this.options;
    try {
      machine.save();
      return true;
    } catch (error) {
      journal.warn(`The agent's state could not be written: ${sentenceOf(error)}. Free space on the disk.`);
      return false;
    }
  }
}

function sequencesOf({ extensions }: ExtensionStep, { machine }: RunnerOptions): CommandRecord['extensions'] {
  return extensions.map((name) => ({ name, sequenceNumber: machine.goalOf(name)?.sequenceNumber ?? 0 }));
}
