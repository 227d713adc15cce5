import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandName, type GoalState, statusFileName } from '#protocol/index.ts';
import { sentenceOf } from './agent-error.ts';
import { Fetcher } from './fetcher.ts';
import { markDone, newRound, nextCommand, type Plan, type Round, reconcile, type Step } from './goal/reconcile.ts';
import { tellingOf } from './goal/telling.ts';
import { executeStep, logOutcome } from './handler/execute-step.ts';
import { deleteSettings, foldersOf, type HandlerFolders, prepareFolders, writeSettings } from './handler/folders.ts';
import type { Outcome } from './handler/run-command.ts';
import type { Journal } from './journal.ts';
import type { Machine } from './machine.ts';
import type { Portal } from './portal/portal.ts';
import type { Observer, StatusWord } from './watch/observer.ts';

export interface RunnerOptions {
  machine: Machine;
  portal: Portal;
  observer: Observer;
  journal: Journal;
  /** The agent's own environment, of which handlers see a documented part. */
  environment: Record<string, string | undefined>;
  /** Asked to reboot the machine, once the installs that want it are complete (AZ-G8). */
  requestReboot(handlers: string[]): void;
}

/** Brings the machine to its goal: fetches beside each other, everything else one step at a time (AZ-G2). */
export class Runner {
  private nextGoal: GoalState | null = null;
  private round: Round = newRound();
  private readonly waitingTold = new Map<string, string>();
  private readonly rebootFor = new Set<string>();
  private readonly stopping = new AbortController();
  private readonly options: RunnerOptions;
  private readonly machine: Machine;
  private readonly fetcher: Fetcher;
  private wake: (() => void) | null = null;
  private isWoken = false;
  private isIdle = false;
  private isEnding = false;
  private idleWaiters: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.options = options;
    this.machine = options.machine;
    this.fetcher = new Fetcher({
      ...options,
      signal: this.stopping.signal,
      onChange: () => this.nudge(),
      onFailure: (step, reason) => this.giveUp(step, reason),
    });
  }

  /** A new goal, or the old one again at a start: a new round begins after the step that is running. */
  setGoal(goal: GoalState): void {
    this.nextGoal = goal;
    this.nudge();
  }

  /** A handler has written its status: those who wait for it may go on. */
  noteStatus(extension: string, sequenceNumber: number, word: StatusWord | null): void {
    if (word === null || this.machine.goalOf(extension)?.sequenceNumber !== sequenceNumber) return;
    if (this.round.statuses[extension] === word) return;
    this.round.statuses[extension] = word;
    this.nudge();
  }

  /** Resolves when there is nothing to do but wait. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  stop(): void {
    this.stopping.abort();
    this.fetcher.reset();
    this.nudge();
  }

  /** Works until it is stopped. A step that fails in an unforeseen way gives up its extensions, and no one else. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.isWoken = false;
      this.takeGoal();
      const plan = this.plan();
      this.fetcher.start(plan.steps.filter((step) => step.kind === 'fetch'));
      this.tellWaiting(plan);
      const step = nextCommand(plan);
      if (step === undefined) {
        if (plan.steps.length === 0) this.rest();
        await this.sleep();
        continue;
      }
      try {
        await this.take(step);
      } catch (error) {
        this.giveUp(step, sentenceOf(error));
      }
      this.save();
    }
    await this.fetcher.settled();
  }

  /** For demos and tests: runs disable of all that may be running, after `run` has ended. Nothing of it is told. */
  async disableAll(): Promise<void> {
    this.isEnding = true;
    for (const [name, { handler, version, state }] of Object.entries(this.machine.local.extensions)) {
      if (!['enabling', 'enabled', 'installed', 'failed', 'disabling'].includes(state)) continue;
      const step: Step = { kind: 'disable', handler, version, extensions: [name], purpose: 'remove' };
      await this.execute(step, 'disable');
    }
  }

  private takeGoal(): void {
    if (this.nextGoal === null) return;
    this.machine.goal = this.nextGoal;
    this.nextGoal = null;
    this.round = newRound();
    this.waitingTold.clear();
    this.fetcher.reset();
    this.ignoreAbsent();
  }

  /** What the portal dropped without the agent stays as it is, and is told of no more. */
  private ignoreAbsent(): void {
    for (const name of Object.keys(this.machine.local.extensions)) {
      if (this.machine.goalOf(name) === undefined) this.options.observer.forget(name);
    }
  }

  private plan(): Plan {
    const { goal, local } = this.machine;
    return goal === null ? { steps: [], waiting: [] } : reconcile(goal, local, this.round);
  }

  private nudge(): void {
    this.isWoken = true;
    this.isIdle = false;
    this.wake?.();
  }

  private async sleep(): Promise<void> {
    if (this.isWoken) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.wake = null;
  }

  private rest(): void {
    if (this.machine.goal === null) return;
    if (this.rebootFor.size > 0) {
      this.options.requestReboot([...this.rebootFor]);
      this.rebootFor.clear();
    }
    this.isIdle = true;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async take(step: Step): Promise<void> {
    const folders = foldersOf(this.machine.layout, step.handler, step.version);
    const [name = ''] = step.extensions;
    switch (step.kind) {
      case 'fetch':
        return;
      case 'configure':
        this.configure(step, folders);
        break;
      case 'delete':
        // AZ-G5: binaries and configuration go, logs are elsewhere and stay.
        for (const each of step.extensions) this.options.observer.ignoreHeartbeat(each);
        rmSync(folders.root, { recursive: true, force: true });
        this.machine.dropVersion(step.handler, step.version);
        break;
      case 'forget':
        this.forget(step, name);
        break;
      default:
        await this.command(step, step.kind, folders);
        return;
    }
    markDone(step, this.round);
  }

  private configure(step: Step, folders: HandlerFolders): void {
    const extension = this.machine.goalOf(step.extensions[0] ?? '');
    if (extension === undefined) return;
    prepareFolders(folders);
    writeSettings(folders, extension, this.isNamed(step));
    this.machine.noteConfigured(extension);
  }

  private forget({ handler }: Step, name: string): void {
    for (const version of Object.keys(this.machine.local.handlers[handler]?.versions ?? {})) {
      deleteSettings(foldersOf(this.machine.layout, handler, version), name);
    }
    this.options.observer.forget(name);
    this.machine.tell(name, 'removed');
    delete this.machine.local.extensions[name];
    this.options.journal.info(`${name}: removed. Its logs stay in ${this.machine.layout.logs}.`);
  }

  private async command(step: Step, kind: CommandName, folders: HandlerFolders): Promise<void> {
    const { machine, round } = this;
    const { observer, journal } = this.options;
    const [name = ''] = step.extensions;
    const { during, after, isFatal } = tellingOf(step);
    const attempt = machine.countAttempt(step.extensions, kind, step.version);
    for (const each of step.extensions) machine.tell(each, during, { command: kind, attempt });
    this.save();
    if (step.purpose === 'goal') this.followFiles(step, kind, folders);
    journal.note(`${name}: ${kind} ${step.version} begins`, { handler: step.handler, attempt });
    const outcome = await this.execute(step, kind);
    if (this.stopping.signal.aborted) return;
    const isGood = outcome.exitCode === 0;
    if (isGood) await this.noteSuccess(step, kind);
    if (isGood || !isFatal) markDone(step, round);
    else for (const each of step.extensions) round.failed.add(each);
    const stays = !isGood && kind === 'update' ? `\nVersion ${step.from} stays on this machine, disabled.` : '';
    for (const each of step.extensions) {
      machine.tell(each, isGood || !isFatal ? (after ?? during) : 'failed', {
        command: kind,
        attempt,
        exitCode: outcome.exitCode ?? undefined,
        timedOut: outcome.timedOut,
        output: outcome.output + stays,
      });
    }
    if (kind === 'enable' || (kind === 'disable' && step.purpose === 'goal')) {
      const word = await observer.readStatus(name);
      if (word !== null) round.statuses[name] = word;
    }
  }

  private async execute(step: Step, kind: CommandName): Promise<Outcome> {
    const { environment, journal } = this.options;
    const signal = this.isEnding ? undefined : this.stopping.signal;
    const outcome = await executeStep({ machine: this.machine, step, kind, environment, signal });
    if (!signal?.aborted) logOutcome(journal, step, kind, outcome);
    return outcome;
  }

  /** Install or update that ended with 0 is never run again for that version (AZ-G3). */
  private async noteSuccess(step: Step, kind: CommandName): Promise<void> {
    const version = this.machine.versionOf(step);
    if (kind === 'disable' && step.purpose === 'goal') {
      for (const name of step.extensions) this.options.observer.ignoreHeartbeat(name);
    }
    if (version === undefined) return;
    if (kind === 'uninstall') version.installed = false;
    if (kind !== 'install' && kind !== 'update') return;
    version.installed = true;
    for (const name of step.extensions) {
      const local = this.machine.local.extensions[name];
      if (local !== undefined) local.version = step.version;
    }
    if (version.rebootAfterInstall) this.rebootFor.add(step.handler);
  }

  /** From its first command on a handler may tell of itself; heartbeats only where its manifest says so (AZ-H2). */
  private followFiles(step: Step, kind: CommandName, folders: HandlerFolders): void {
    const { observer } = this.options;
    for (const name of step.extensions) {
      if (this.machine.versionOf(step)?.reportHeartbeat && kind !== 'disable') {
        observer.followHeartbeat(name, folders.heartbeatFile);
      } else observer.ignoreHeartbeat(name);
      if (kind !== 'enable' && kind !== 'disable') continue;
      const sequenceNumber = this.machine.goalOf(name)?.sequenceNumber ?? 0;
      delete this.round.statuses[name];
      const file = statusFileName(sequenceNumber, this.isNamed(step) ? name : undefined);
      observer.followStatus(name, sequenceNumber, join(folders.statusFolder, file));
    }
  }

  private tellWaiting({ waiting, steps }: Plan): void {
    for (const { extension, blockedBy } of waiting) {
      if (this.waitingTold.get(extension) === blockedBy) continue;
      // What is enabled already only stands behind the other for a moment, as at each start.
      const isMoment = steps.some((step) => step.extensions.includes(blockedBy));
      if (isMoment && this.machine.local.extensions[extension]?.state === 'enabled') continue;
      this.waitingTold.set(extension, blockedBy);
      this.machine.tell(extension, 'waiting', { blockedBy });
      this.options.journal.info(`${extension}: waits for ${blockedBy}.`);
    }
  }

  private giveUp(step: Step, reason: string): void {
    this.options.journal.warn(`${step.extensions.join(', ')}: ${step.kind} ${step.version} failed: ${reason}`);
    for (const name of step.extensions) {
      this.round.failed.add(name);
      this.machine.tell(name, 'failed', { output: reason });
    }
    this.save();
  }

  /** A full disk does not stop the work; the next step writes again. */
  private save(): void {
    try {
      this.machine.save();
    } catch (error) {
      this.options.journal.warn(
        `The agent's state could not be written: ${sentenceOf(error)}. Free space on the disk.`,
      );
    }
  }

  /** Whether the files of this handler carry the extension's name (AZ-C4). */
  private isNamed(step: Step): boolean {
    return this.machine.versionOf(step)?.supportsMultipleExtensions === true;
  }
}
