import type { GoalState } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import type { AmqpSettings } from '../channel/amqp-settings.ts';
import { type FileSettings, openFileSources } from '../execution/files/file-sources.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readJson, writeJson } from '../folder/write-file.ts';
import { type NewestByEpoch, replayFault, withNewest } from '../goal/newest.ts';
import { readGoalState } from '../goal/read-goal-state.ts';
import { sweepIncoming } from '../handler/folders.ts';
import { KnownSecrets } from '../handler/known-secrets.ts';
import { pruneEvents } from '../handler/prune.ts';
import { openCallCounter } from '../identity/call-counter.ts';
import { loadIdentity } from '../identity/identity.ts';
import { KeyCopies } from '../identity/key-copies.ts';
import { isRenewing, renewKey, sweepKeys } from '../identity/renew-key.ts';
import type { Journal } from '../journal.ts';
import { backoff } from '../portal/backoff.ts';
import type { Caller } from '../portal/call.ts';
import { plainHttpAdvice, plainHttpWarning } from '../portal/plain-http.ts';
import { openPortal, type PolledGoalState, type Portal, PortalRefusal } from '../portal/portal.ts';
import { wait } from '../portal/wait.ts';
import { LogArchives } from '../report/log-archives.ts';
import { LogUploads } from '../report/log-uploads.ts';
import { Reporter } from '../report/reporter.ts';
import { agentVersion } from '../version.ts';
import { bootIdFile, readBootId } from '../watch/moment.ts';
import { Observer, type ObserverSettings } from '../watch/observer.ts';
import { ExecutionWork } from './executions/execution-work.ts';
import { ExtensionRunner } from './extensions/runner.ts';
import { HookWork } from './hooks/hook-work.ts';
import { keepGoing } from './keep-going.ts';
import { Lane } from './lane.ts';
import { Machine } from './machine.ts';
import { pauseAfter, startTroubleOf, troubleOf } from './poll-trouble.ts';
import { PendingRestart } from './restart.ts';
import { readStoredGoalState } from './stored-goal-state.ts';

export interface AgentOptions extends ObserverSettings, FileSettings {
  layout: AgentLayout;
  journal: Journal;
  /**
   * Shell command that restarts the machine when an install requires it. If absent, the portal shows the request
   * instead.
   */
  rebootCommand?: string;
  /** A file whose contents change at each boot; by default Linux's boot id. */
  bootIdFile?: string;
  /** For demos and tests: disables every handler when the agent stops, so that nothing keeps running. */
  disableOnExit?: boolean;
  /**
   * Folder in which handlers written for the stock agent look for keys; if absent, keys are only in the agent's folder.
   */
  waagentFolder?: string;
  /**
   * Whether the machine's owner allows execution plans. If absent, the agent runs no plans and reports no platforms.
   */
  executionPlans?: 'on' | 'off';
  /** The Python that runs the Bodies of execution plans; by default the first `python3` in PATH. */
  python?: string;
  /** The broker from which this machine also takes execution plans; null if there is none. */
  amqp?: AmqpSettings | null;
  /** The `Tag` of log messages; by default, the name of the machine. */
  amqpTag?: string;
  call: Caller;
  /** Called after each response to a poll. */
  onPoll?: () => void;
  /** For trials and tests: a portal in the same process. */
  portal?: Portal;
  environment: Record<string, string | undefined>;
}

/** How long the portal may hold a poll, in seconds; the portal allows at most 60. */
const holdSeconds = 50;
/** Minimum pause, in seconds, after a response that announces log requests and contains no goal state. */
const logsPauseSeconds = 5;
/** Interval at which old handler events are deleted. */
const pruneMilliseconds = 3600_000;
/** How long the agent waits for the portal at startup, in seconds, before it continues from disk. */
const firstAnswerSeconds = 5;

/** The agent of an enrolled machine: polls the portal, brings the machine to its goal state and reports. */
export class Agent {
  readonly reporter: Reporter;
  readonly lane: Lane;
  private readonly extensions: ExtensionRunner;
  private readonly executions: ExecutionWork;
  /** Null if the portal has no units. */
  private readonly hooks: HookWork | null;
  private readonly observer: Observer;
  private readonly restart: PendingRestart;
  private readonly uploads: LogUploads;
  private readonly archives: LogArchives;
  private readonly keys: KeyCopies;
  private readonly portal: Portal;
  private readonly options: AgentOptions;
  private readonly address: string;
  private readonly pollSeconds: number;
  private readonly stopping = new AbortController();
  private wakePoll = new AbortController();
  /** ETag of the current goal state. */
  private appliedEtag: string | null = null;
  /** ETag of the last goal state received, even if it could not be read. */
  private seenEtag: string | null = null;
  /** The highest incarnation received in each epoch. A goal state with a lower incarnation is rejected as a replay. */
  private newest: NewestByEpoch = {};
  private works: Promise<unknown>[] = [];
  private renewing: Promise<void> | null = null;
  private eventsPrunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AgentOptions) {
    const { layout, journal, heartbeatSeconds, statusSeconds } = options;
    const identity = loadIdentity(layout);
    this.options = options;
    this.address = identity.portal;
    this.pollSeconds = identity.pollSeconds ?? 30;
    this.portal =
      options.portal ?? openPortal(identity.portal, identity.credential, openCallCounter(layout), options.call);
    const { portal } = this;
    this.uploads = new LogUploads({ layout, journal, portal });
    this.archives = new LogArchives({ layout, journal, portal });
    this.reporter = new Reporter({
      layout,
      journal,
      portal,
      periods: { heartbeatSeconds, statusSeconds },
      appliedEtag: () => this.appliedEtag,
      onEtag: (etag) => {
        if (etag !== this.seenEtag) this.wakePoll.abort();
      },
      onLogsWanted: () => this.archives.wanted(),
      onExecutions: (news) => {
        // Unlike a report, a poll also returns the goal state that the execution may have to wait for.
        if (this.executions.isNews(news)) this.wakePoll.abort();
        this.executions.noteCancel(news.cancel);
      },
      unitStamp: () => this.hooks?.stamp ?? null,
      onUnits: (news) => this.hooks?.noteNews(news),
    });
    this.keys = new KeyCopies(layout, options.waagentFolder);
    const secrets = new KnownSecrets(layout, journal, () => this.extensions.goal);
    this.observer = new Observer(
      {
        heartbeat: (extension, read) => this.reporter.heartbeat(extension, secrets.hide(read)),
        status: (extension, sequenceNumber, read, word) => {
          this.reporter.status(extension, sequenceNumber, secrets.hide(read));
          this.extensions.noteStatus(extension, sequenceNumber, word);
        },
        problem: (about, message, file) => this.reporter.problem(about, message, file),
      },
      journal,
      options,
    );
    const boot = readBootId(options.bootIdFile ?? bootIdFile);
    const machine = new Machine(layout, this.reporter, boot);
    this.restart = new PendingRestart({
      machine,
      reporter: this.reporter,
      journal,
      command: options.rebootCommand,
      environment: options.environment,
      onProblem: (message) => this.reporter.problem('restart', message),
    });
    this.extensions = new ExtensionRunner({
      wake: () => this.lane.wake(),
      machine,
      portal,
      observer: this.observer,
      keys: this.keys,
      journal,
      environment: options.environment,
      sendOutput: (output) => this.uploads.add(output),
      mayReplaceGoal: () => this.executions.mayBeOvertaken(),
      onRest: () => this.sweepKeys(),
      restart: this.restart,
    });
    this.executions = new ExecutionWork({
      ...{ layout, journal, portal, boot, environment: options.environment, python: options.python },
      ...{ amqp: options.amqp, tag: options.amqpTag },
      isOn: options.executionPlans === 'on',
      rebootCommand: options.rebootCommand,
      sources: openFileSources(options, portal),
      goals: () => ({ newest: this.extensions.newestTurn, rested: this.extensions.restedTurn }),
      wake: () => this.lane.wake(),
    });
    this.hooks = this.openHooks(boot);
    this.lane = new Lane([this.extensions, this.executions, ...(this.hooks === null ? [] : [this.hooks])]);
  }

  /**
   * Starts the agent's work and polls the portal once. If the poll fails, the agent continues with the goal state on
   * disk. Returns whether the poll succeeded.
   */
  async start(): Promise<boolean> {
    sweepIncoming(this.options.layout);
    this.restart.begin();
    this.executions.begin();
    this.hooks?.begin();
    const warning = plainHttpWarning(this.address);
    if (warning !== null) this.options.journal.warn(`${warning} ${plainHttpAdvice}`);
    const stored = readStoredGoalState(this.options.layout);
    this.newest = stored?.newest ?? {};
    // An execution begins, or continues after a restart of the machine, once this goal state has been applied.
    if (stored !== null && this.executions.awaitsGoalState) {
      this.apply(stored, 'kept');
      this.extensions.takeUpGoal();
    }
    const keeping = { journal: this.options.journal, signal: this.stopping.signal };
    this.works = [
      keepGoing('Reporting', () => this.reporter.run(), keeping),
      keepGoing('Sending outputs', () => this.uploads.run(), keeping),
      keepGoing('Sending executions', () => this.executions.send(), keeping),
      keepGoing('Taking plans over AMQP', () => this.executions.receiveOverAmqp(), keeping),
      keepGoing('Work on the goal state', () => this.workOnGoal(), keeping),
    ];
    if (this.options.executionPlans !== undefined) {
      this.works.push(keepGoing('Telling what runs here', () => this.executions.tellPlatforms(), keeping));
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), firstAnswerSeconds * 1000);
    try {
      const answer = await this.portal.goalState(stored?.etag ?? null, 0, late.signal, this.hooks?.stamp);
      this.options.onPoll?.();
      this.receive(answer);
      if (this.appliedEtag === null && stored !== null) {
        // If nothing is new, or the goal state cannot be read, the last valid goal state remains current.
        const seen = this.seenEtag;
        this.apply(stored, 'kept');
        this.seenEtag = seen ?? this.seenEtag;
      }
      return true;
    } catch (error) {
      this.options.journal.warn(`${startTroubleOf(error)} Continuing from disk.`);
      if (stored !== null && this.appliedEtag === null) this.apply(stored, 'kept');
      return false;
    } finally {
      clearTimeout(timer);
      // What operators requested before a change of a unit must be known first, so that it begins first (EN-67).
      this.works.push(keepGoing('Looking after units', async () => this.hooks?.run(), keeping));
    }
  }

  private async workOnGoal(): Promise<void> {
    await this.lane.run();
    await this.extensions.settled();
  }

  /** Polls the portal until the agent is stopped. */
  async poll(): Promise<void> {
    const { journal } = this.options;
    const pauses = backoff(1, 30);
    let isAway = false;
    if (isRenewing(this.options.layout)) void this.renewKey();
    while (!this.stopping.signal.aborted) {
      this.pruneEvents();
      let pause: number;
      try {
        const asked = this.seenEtag;
        const answer = await this.portal.goalState(asked, holdSeconds, this.stopping.signal, this.hooks?.stamp);
        this.options.onPoll?.();
        this.reporter.notePortalAnswered();
        this.uploads.notePortalAnswered();
        this.receive(answer);
        if (isAway) {
          journal.info('The portal is available again.');
          this.hooks?.look();
        }
        isAway = false;
        pauses.reset();
        // The portal responds to the first poll immediately and can hold the next poll.
        pause = asked === null ? 0 : (answer.pollAfter ?? (answer.document === null ? this.pollSeconds : 0));
        // If a proxy strips `If-None-Match`, the portal cannot hold the poll.
        if (asked !== null && answer.document?.etag === asked) pause = Math.max(pause, this.pollSeconds);
        // The portal may respond to polls immediately while log requests are open.
        if (answer.wantsLogs && answer.document === null) pause = Math.max(pause, logsPauseSeconds);
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        pause = pauseAfter(error, () => pauses.next());
        if (!isAway) journal.warn(troubleOf(error));
        if (!isAway && error instanceof AgentError) this.reporter.problem('goal-state', error.message);
        isAway = true;
      }
      await wait(Math.max(pause, 0.1), [this.stopping.signal, this.wakePoll.signal]);
      if (this.wakePoll.signal.aborted) this.wakePoll = new AbortController();
    }
  }

  /** Reads and reports the followed files now. Resolves when everything is acknowledged, or after the timeout. */
  async reportEverything(seconds: number): Promise<void> {
    await this.observer.readEverything();
    await Promise.all([
      this.reporter.drain(seconds),
      this.uploads.drain(seconds),
      this.executions.drain(seconds),
      this.hooks?.drain(seconds),
    ]);
  }

  /**
   * Replaces this machine's key. The portal encrypts protected settings for the new key; no handler command runs. Logs
   * errors and never throws.
   */
  async renewKey(): Promise<void> {
    // Two concurrent renewals would each create a key, but the portal accepts only one key.
    this.renewing ??= this.renewKeyOnce().finally(() => {
      this.renewing = null;
    });
    await this.renewing;
  }

  /**
   * Sends the version of this agent to the portal, unless it was already sent. Returns false if the request failed but
   * may succeed later.
   */
  async describe(): Promise<boolean> {
    const { layout } = this.options;
    const { vmId } = loadIdentity(layout);
    const known = readJson(layout.described) as { vmId?: unknown; version?: unknown } | null;
    if (known?.vmId === vmId && known.version === agentVersion) return true;
    try {
      await this.portal.describeAgent();
      writeJson(layout.described, { vmId, version: agentVersion });
      return true;
    } catch (error) {
      // Older portals reject this request, and a retry would not help.
      return error instanceof PortalRefusal && !error.passing;
    }
  }

  private async renewKeyOnce(): Promise<void> {
    const { journal, layout } = this.options;
    try {
      const thumbprint = await renewKey(layout, this.portal);
      journal.info(`This machine has a new certificate, ${thumbprint}. The old key is kept until nothing uses it.`);
      this.wakePoll.abort();
    } catch (error) {
      journal.warn(`The certificate could not be renewed: ${sentenceOf(error)}. The old one is still used.`);
    }
  }

  /** Stops all work and ends the running command. Reports that are not acknowledged in time stay on disk. */
  async stop(patienceSeconds = 1): Promise<void> {
    this.stopping.abort();
    this.extensions.stop();
    this.executions.stop();
    this.hooks?.stop();
    this.lane.stop();
    this.observer.stop();
    await Promise.all([
      this.reporter.drain(patienceSeconds),
      this.uploads.drain(patienceSeconds),
      this.executions.drain(patienceSeconds),
      this.hooks?.drain(patienceSeconds),
    ]);
    this.hooks?.stopSending();
    this.executions.stopSending();
    this.reporter.stop();
    this.uploads.stop();
    await this.archives.stop();
    await Promise.allSettled(this.works);
    if (this.options.disableOnExit) {
      await this.executions.endProcesses();
      await this.extensions.disableAll();
    }
  }

  private openHooks(boot: string): HookWork | null {
    const { layout, journal, environment } = this.options;
    const { units: calls } = this.portal;
    if (calls === undefined) return null;
    return new HookWork({
      ...{ layout, journal, environment, portal: this.portal, calls, boot },
      wake: () => this.lane.wake(),
      onProblem: (message) => this.reporter.problem('units', message),
    });
  }

  private receive({ document, wantsLogs, executions, units }: PolledGoalState): void {
    if (wantsLogs) this.archives.wanted();
    try {
      this.receiveGoalState(document);
    } finally {
      if (units !== undefined) this.hooks?.noteNews(units);
      // An execution does not wait for a goal state that cannot be read or stored (MU-71).
      this.executions.noteNews(executions);
    }
  }

  private receiveGoalState(document: PolledGoalState['document']): void {
    if (document === null || document.etag === this.seenEtag) return;
    // After a rejected goal state, the portal may send the current goal state again.
    if (document.etag === this.appliedEtag) this.seenEtag = document.etag;
    else this.apply(document);
  }

  /**
   * Makes a goal state the current one, and stores it if it is new. If it is invalid or a replay, reports it and keeps
   * the last valid goal state. Throws AgentError if the goal state cannot be stored.
   */
  private apply(document: { text: string; etag: string }, how: 'new' | 'kept' = 'new'): void {
    const { journal, layout } = this.options;
    const goal = this.read(document);
    if (goal === null) return;
    const newest = withNewest(this.newest, document.etag, goal.incarnation);
    const isNewEpoch = Object.keys(newest).some((epoch) => !(epoch in this.newest));
    try {
      if (how === 'new') writeJson(layout.goalState, { text: document.text, etag: document.etag, newest });
    } catch (error) {
      // The goal state is not applied: if the agent restarted while the portal was unavailable, it would return the
      // machine to the older goal state on disk. Because `seenEtag` is unchanged, the agent requests this goal state
      // again.
      throw new AgentError(`The goal state cannot be stored: ${sentenceOf(error)}. The last one stays current.`);
    }
    this.seenEtag = document.etag;
    this.appliedEtag = document.etag;
    this.newest = newest;
    // A different portal, or a portal whose database was restored, may not know the pending restarts.
    if (isNewEpoch && how === 'new') this.restart.reportAgain();
    journal.info(`Goal state ${goal.incarnation}: ${listOf(goal.extensions)}.`);
    this.extensions.setGoal(goal);
  }

  private read({ text, etag }: { text: string; etag: string }): GoalState | null {
    try {
      const goal = readGoalState(text);
      const fault = replayFault(this.newest, etag, goal.incarnation);
      if (fault === null) return goal;
      this.rejectGoalState(etag, `${fault}. The newer one stays in force.`);
      return null;
    } catch (error) {
      this.rejectGoalState(
        etag,
        `The goal state cannot be read: ${sentenceOf(error)}. The last valid one remains in effect.`,
      );
      return null;
    }
  }

  /** Rejects a goal state. The agent does not fetch a goal state again until the portal has a different one. */
  private rejectGoalState(etag: string, message: string): void {
    this.seenEtag = etag;
    this.options.journal.warn(message, { etag });
    this.reporter.problem('goal-state', message);
  }

  private sweepKeys(): void {
    try {
      sweepKeys(this.options.layout, this.keys, this.extensions.goal, this.executions.keysInUse);
    } catch (error) {
      this.options.journal.warn(`Keys that nothing uses could not be deleted: ${sentenceOf(error)}.`);
    }
  }

  private pruneEvents(): void {
    if (performance.now() - this.eventsPrunedAt < pruneMilliseconds) return;
    this.eventsPrunedAt = performance.now();
    try {
      pruneEvents(this.options.layout);
    } catch (error) {
      this.options.journal.warn(`Old events of handlers could not be deleted: ${sentenceOf(error)}.`);
    }
  }
}

function listOf(extensions: { name: string; version: string; state: string }[]): string {
  if (extensions.length === 0) return 'no extensions';
  return extensions.map(({ name, version, state }) => `${name} ${version} ${state}`).join(', ');
}
