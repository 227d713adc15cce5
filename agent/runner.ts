import type { GoalState, GoalStateExtension } from '#protocol/index.ts';
import { sentenceOf } from './agent-error.ts';
import { CommandSteps } from './command-steps.ts';
import { Fetcher } from './fetcher.ts';
import { inKnownSpelling } from './goal/known-spelling.ts';
import {
  markDone,
  newRound,
  nextCommand,
  noteWord,
  type Plan,
  type Round,
  reconcile,
  type Step,
} from './goal/reconcile.ts';
import { isOnlySealedAnew } from './goal/sealed-anew.ts';
import {
  deleteSettings,
  discardRoot,
  foldersOf,
  type HandlerFolders,
  hasSettings,
  prepareFolders,
  writeSettings,
} from './handler/folders.ts';
import type { Machine } from './machine.ts';
import type { RunnerOptions } from './runner-options.ts';
import type { StatusWord } from './watch/observer.ts';

/** Brings the machine to its goal: fetches beside each other, everything else one step at a time (AZ-G2). */
export class Runner {
  private nextGoal: GoalState | null = null;
  private round: Round;
  private readonly waitingTold = new Map<string, string>();
  private readonly stopping = new AbortController();
  private readonly options: RunnerOptions;
  private readonly machine: Machine;
  private readonly fetcher: Fetcher;
  private readonly commands: CommandSteps;
  private wake: (() => void) | null = null;
  private isWoken = false;
  private isIdle = false;
  private isResumed = false;
  private idleWaiters: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.options = options;
    this.machine = options.machine;
    this.round = this.newRound();
    this.commands = new CommandSteps(options, this.stopping.signal);
    this.fetcher = new Fetcher({
      ...options,
      signal: this.stopping.signal,
      onChange: () => this.nudge(),
      onFailure: (step, reason) => this.giveUp(step, reason),
    });
  }

  /** The goal in force, or null while there is none. */
  get goal(): GoalState | null {
    return this.machine.goal;
  }

  /** A new goal, or the old one again at a start: a new round begins after the step that is running. */
  setGoal(goal: GoalState): void {
    this.nextGoal = goal;
    this.nudge();
  }

  /** A handler has written its status: those who wait for it may go on. */
  noteStatus(extension: string, sequenceNumber: number, word: StatusWord | null): void {
    if (word === null || this.machine.goalOf(extension)?.sequenceNumber !== sequenceNumber) return;
    if (noteWord(this.round, extension, word)) this.nudge();
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
      if (!this.isResumed && this.machine.goal !== null) await this.resume();
      const plan = this.plan();
      this.fetcher.start(plan.steps.filter((step) => step.kind === 'fetch'));
      this.tellWaiting(plan);
      const step = nextCommand(plan);
      if (step === undefined) {
        // AZ-G8: all installs that can be done now are complete; a package that does not arrive holds up no restart.
        if (this.machine.goal !== null && !this.fetcher.isBusy) this.options.restart.request();
        if (plan.steps.length === 0) this.rest();
        await this.sleep();
        continue;
      }
      try {
        await this.take(step);
      } catch (error) {
        this.giveUp(step, sentenceOf(error));
      }
      this.commands.save();
    }
    await this.fetcher.settled();
  }

  /** For demos and tests: runs disable of all that may be running, after `run` has ended. Nothing of it is told. */
  async disableAll(): Promise<void> {
    for (const [name, { handler, version, state }] of Object.entries(this.machine.local.extensions)) {
      if (!['enabling', 'enabled', 'installed', 'failed', 'disabling'].includes(state)) continue;
      const step: Step = { kind: 'disable', handler, version, extensions: [name], purpose: 'remove' };
      await this.commands.disableQuietly(step);
    }
  }

  private async resume(): Promise<void> {
    this.isResumed = true;
    try {
      await this.commands.resume();
    } catch (error) {
      this.options.journal.warn(`What ran when the agent was killed cannot be taken up: ${sentenceOf(error)}.`);
    }
  }

  private takeGoal(): void {
    if (this.nextGoal === null) return;
    const before = this.machine.goal;
    const goal = inKnownSpelling(this.nextGoal, this.machine.local);
    this.machine.goal = goal;
    this.nextGoal = null;
    if (isOnlySealedAnew(before, goal)) {
      this.sealAnew(goal);
      return;
    }
    this.round = this.newRound();
    this.options.restart.retry();
    this.machine.forgetLostFolders();
    this.waitingTold.clear();
    this.fetcher.reset();
    this.ignoreAbsent();
  }

  /** The machine has another key: what is in force is written anew, and nobody is run. */
  private sealAnew(goal: GoalState): void {
    for (const extension of goal.extensions) {
      const { name, handler, version } = extension;
      const folders = foldersOf(this.machine.layout, handler, version);
      const isNamed = this.machine.versionOf(extension)?.supportsMultipleExtensions === true;
      try {
        if (!hasSettings(folders, extension, isNamed)) continue;
        this.placeKey(extension);
        writeSettings(folders, extension, isNamed);
      } catch (error) {
        this.options.journal.warn(`${name}: its settings could not be written anew: ${sentenceOf(error)}.`);
      }
    }
    this.options.journal.info('Protected settings were sealed for the new certificate; no handler is run for it.');
  }

  /** What the portal dropped without the agent stays as it is, and is told of no more. */
  private ignoreAbsent(): void {
    for (const name of Object.keys(this.machine.local.extensions)) {
      if (this.machine.goalOf(name) === undefined) this.options.observer.forget(name);
    }
  }

  private newRound(): Round {
    return { ...newRound(), enableAfterRestart: this.options.restart.isOwn };
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
    this.options.onRest?.();
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
        discardRoot(this.machine.layout, folders.root);
        this.machine.dropVersion(step.handler, step.version);
        this.options.restart.report();
        break;
      case 'forget':
        this.forget(step, name);
        break;
      default:
        await this.commands.run(step, step.kind, this.round);
        return;
    }
    markDone(step, this.round);
  }

  private configure(step: Step, folders: HandlerFolders): void {
    const extension = this.machine.goalOf(step.extensions[0] ?? '');
    if (extension === undefined) return;
    prepareFolders(this.machine.layout, step.handler, folders);
    this.placeKey(extension);
    writeSettings(folders, extension, this.isNamed(step));
    this.machine.noteConfigured(extension);
  }

  /** The key is where handlers look for it before they get what it opens. The agent's own folder has it in any case. */
  private placeKey({ name, settings }: GoalStateExtension): void {
    const { protectedSettingsCertThumbprint: thumbprint } = settings;
    if (thumbprint === undefined) return;
    try {
      this.options.keys.place(thumbprint);
    } catch (error) {
      this.options.journal.warn(`${name}: its key could not be put where handlers look for it: ${sentenceOf(error)}.`);
    }
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
    this.commands.save();
  }

  /** Whether the files of this handler carry the extension's name (AZ-C4). */
  private isNamed(step: Step): boolean {
    return this.machine.versionOf(step)?.supportsMultipleExtensions === true;
  }
}
