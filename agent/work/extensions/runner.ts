import {
  type ExtensionPlan,
  type ExtensionStep,
  type GoalState,
  type GoalStateExtension,
  isOnlyResealed,
  markDone,
  nextCommand,
  noteStatusWord,
  reconcile,
  type StatusWord,
  turnOf,
} from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import {
  deleteSettings,
  discardRoot,
  foldersOf,
  type HandlerFolders,
  hasSettings,
  prepareFolders,
  writeSettings,
} from '../../handler/folders.ts';
import type { LaneCandidate, LaneWork } from '../lane.ts';
import type { Machine } from '../machine.ts';
import { CommandSteps } from './command-steps.ts';
import { type ExtensionRound, newExtensionRound } from './extension-round.ts';
import { Fetcher } from './fetcher.ts';
import { inKnownSpelling } from './known-spelling.ts';
import type { RunnerOptions } from './runner-options.ts';

/** Brings extensions to their goal: fetches packages in parallel, and gives everything else to the lane (AZ-G2). */
export class ExtensionRunner implements LaneWork {
  private nextGoal: GoalState | null = null;
  private round: ExtensionRound;
  private readonly reportedWaits = new Map<string, string>();
  private readonly stopping = new AbortController();
  private readonly options: RunnerOptions;
  private readonly machine: Machine;
  private readonly fetcher: Fetcher;
  private readonly commands: CommandSteps;
  private isResumed = false;
  private rested: number | null = null;

  constructor(options: RunnerOptions) {
    this.options = options;
    this.machine = options.machine;
    this.round = this.newRound();
    this.commands = new CommandSteps(options, this.stopping.signal);
    this.fetcher = new Fetcher({
      ...options,
      signal: this.stopping.signal,
      onChange: () => options.wake(),
      onFailure: (step, reason) => this.failExtensions(step, reason),
    });
  }

  /** The current goal, or null while there is none. */
  get goal(): GoalState | null {
    return this.machine.goal;
  }

  /** The turn of the newest goal, even if the lane has not taken it up yet; null while there is no goal. */
  get newestTurn(): number | null {
    const goal = this.nextGoal ?? this.machine.goal;
    return goal === null ? null : turnOf(goal);
  }

  /**
   * The turn of the last goal that came to rest; null if none has come to rest since the agent started. A goal comes to
   * rest once no step can run and no download is running, even if steps have failed or are waiting for another
   * extension or for the retry of a download.
   */
  get restedTurn(): number | null {
    return this.rested;
  }

  /**
   * Sets a new goal, or the stored goal at startup. A new round begins once the lane takes up the goal, unless only
   * the encryption of settings changed.
   */
  setGoal(goal: GoalState): void {
    this.nextGoal = goal;
    this.options.wake();
  }

  /** Makes the new goal current without waiting for the lane, so that a later goal does not replace it first. */
  takeUpGoal(): void {
    this.takeGoal();
  }

  /** Notes a status that a handler has written. Extensions that wait for `extension` may now proceed. */
  noteStatus(extension: string, sequenceNumber: number, word: StatusWord | null): void {
    if (word === null || this.machine.goalOf(extension)?.sequenceNumber !== sequenceNumber) return;
    if (noteStatusWord(this.round, extension, word)) this.options.wake();
  }

  stop(): void {
    this.stopping.abort();
    this.fetcher.reset();
  }

  /** Resolves when no download is running. */
  async settled(): Promise<void> {
    await this.fetcher.settled();
  }

  async candidate(): Promise<LaneCandidate | 'wait' | 'rest'> {
    this.takeGoal();
    const { goal } = this.machine;
    if (goal === null) return 'wait';
    const about = { kind: 'extension', turn: turnOf(goal) } as const;
    if (!this.isResumed) return { ...about, isBegun: true, run: () => this.resume() };
    const plan = reconcile(goal.extensions, this.machine.local, this.round);
    this.fetcher.start(plan.steps.filter((step) => step.kind === 'fetch'));
    this.reportWaiting(plan);
    const step = nextCommand(plan);
    if (step !== undefined) return { ...about, isBegun: false, run: () => this.runStep(step) };
    // AZ-G8: all installs that can run now are complete. A download that waits for its retry does not delay the
    // restart.
    if (!this.fetcher.isBusy) {
      this.rested = turnOf(goal);
      this.options.restart.request();
    }
    if (plan.steps.length > 0) return 'wait';
    this.options.onRest?.();
    return 'rest';
  }

  /** Runs a step. If it fails unexpectedly, only its own extensions fail. */
  private async runStep(step: ExtensionStep): Promise<void> {
    try {
      await this.execute(step);
    } catch (error) {
      this.failExtensions(step, sentenceOf(error));
    }
    this.commands.save();
  }

  /** For demos and tests: disables everything that may be running, after the lane has ended, without reporting it. */
  async disableAll(): Promise<void> {
    for (const [name, { handler, version, state }] of Object.entries(this.machine.local.extensions)) {
      if (!['enabling', 'enabled', 'installed', 'failed', 'disabling'].includes(state)) continue;
      const step: ExtensionStep = { kind: 'disable', handler, version, extensions: [name], purpose: 'remove' };
      await this.commands.disableQuietly(step);
    }
  }

  private async resume(): Promise<void> {
    this.isResumed = true;
    try {
      await this.commands.resume();
    } catch (error) {
      this.options.journal.warn(
        `The command that ran when the agent was killed cannot be resumed: ${sentenceOf(error)}.`,
      );
    }
  }

  private takeGoal(): void {
    if (this.nextGoal === null) return;
    const before = this.machine.goal;
    const goal = inKnownSpelling(this.nextGoal, this.machine.local);
    const isAtRest = before === null || this.rested === turnOf(before);
    if (!isAtRest && !isOnlyResealed(before, goal) && this.options.mayReplaceGoal?.() === false) return;
    this.machine.goal = goal;
    this.nextGoal = null;
    if (isOnlyResealed(before, goal)) {
      this.rewriteSettings(goal);
      return;
    }
    this.round = this.newRound();
    this.machine.beginRound();
    this.commands.save();
    this.options.restart.retry();
    this.machine.forgetLostFolders();
    this.reportedWaits.clear();
    this.fetcher.reset();
    this.ignoreAbsent();
  }

  /** Rewrites settings files for the machine's new key, without running a handler. */
  private rewriteSettings(goal: GoalState): void {
    for (const extension of goal.extensions) {
      const { name, handler, version } = extension;
      const folders = foldersOf(this.machine.layout, handler, version);
      const isNamed = this.machine.versionOf(extension)?.supportsMultipleExtensions === true;
      try {
        if (!hasSettings(folders, extension, isNamed)) continue;
        this.placeKey(extension);
        writeSettings(folders, extension, isNamed);
      } catch (error) {
        this.options.journal.warn(`${name}: its settings could not be written again: ${sentenceOf(error)}.`);
      }
    }
    this.options.journal.info('Protected settings were encrypted for the new certificate; no handler needs to run.');
  }

  /**
   * Stops reporting extensions that the portal removed from the goal state without an uninstall, and leaves them as
   * they are.
   */
  private ignoreAbsent(): void {
    for (const name of Object.keys(this.machine.local.extensions)) {
      if (this.machine.goalOf(name) === undefined) this.options.observer.forget(name);
    }
  }

  private newRound(): ExtensionRound {
    return newExtensionRound(this.options.restart.restartsMachine);
  }

  private async execute(step: ExtensionStep): Promise<void> {
    const folders = foldersOf(this.machine.layout, step.handler, step.version);
    const [name = ''] = step.extensions;
    switch (step.kind) {
      case 'fetch':
        return;
      case 'configure':
        this.configure(step, folders);
        break;
      case 'delete':
        // AZ-G5: deletes binaries and configuration. Logs are in another folder and are kept.
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

  private configure(step: ExtensionStep, folders: HandlerFolders): void {
    const extension = this.machine.goalOf(step.extensions[0] ?? '');
    if (extension === undefined) return;
    prepareFolders(this.machine.layout, step.handler, folders);
    this.placeKey(extension);
    writeSettings(folders, extension, this.isNamed(step));
    this.machine.noteConfigured(extension);
  }

  /**
   * Copies the key to where handlers look for it, before they receive the settings that it decrypts. A failure is only
   * logged, because the agent's own folder has the key too.
   */
  private placeKey({ name, settings }: GoalStateExtension): void {
    const { protectedSettingsCertThumbprint: thumbprint } = settings;
    if (thumbprint === undefined) return;
    try {
      this.options.keys.place(thumbprint);
    } catch (error) {
      this.options.journal.warn(
        `${name}: its key could not be copied to where handlers look for it: ${sentenceOf(error)}.`,
      );
    }
  }

  private forget({ handler }: ExtensionStep, name: string): void {
    for (const version of Object.keys(this.machine.local.handlers[handler]?.versions ?? {})) {
      deleteSettings(foldersOf(this.machine.layout, handler, version), name);
    }
    this.options.observer.forget(name);
    this.machine.reportState(name, 'removed');
    delete this.machine.local.extensions[name];
    this.options.journal.info(`${name}: removed. Its logs are kept in ${this.machine.layout.logs}.`);
  }

  private reportWaiting({ waiting, steps }: ExtensionPlan): void {
    for (const { extension, blockedBy } of waiting) {
      if (this.reportedWaits.get(extension) === blockedBy) continue;
      // In each round, an enabled extension briefly waits for its dependencies. The agent does not report this wait.
      const isBrief = steps.some((step) => step.extensions.includes(blockedBy));
      if (isBrief && this.machine.local.extensions[extension]?.state === 'enabled') continue;
      this.reportedWaits.set(extension, blockedBy);
      this.machine.reportState(extension, 'waiting', { blockedBy });
      this.options.journal.info(`${extension}: is waiting for ${blockedBy}.`);
    }
  }

  private failExtensions(step: ExtensionStep, reason: string): void {
    this.options.journal.warn(`${step.extensions.join(', ')}: ${step.kind} ${step.version} failed: ${reason}`);
    for (const name of step.extensions) {
      this.round.failed.add(name);
      this.machine.reportState(name, 'failed', { output: reason });
    }
    this.commands.save();
  }

  /** Whether this handler's file names include the extension's name (AZ-C4). */
  private isNamed(step: ExtensionStep): boolean {
    return this.machine.versionOf(step)?.supportsMultipleExtensions === true;
  }
}
