import type { ConsumeMessage } from 'amqplib';
import { errorCodes, executionEnvelope } from '#protocol/executions/index.ts';
import { AgentError, sentenceOf } from '../../agent-error.ts';
import { AmqpChannel, type MessageOutcome } from '../../channel/amqp.ts';
import type { AmqpSettings } from '../../channel/amqp-settings.ts';
import { envelopeOf, replyOf } from '../../channel/plan-message.ts';
import { beginRun } from '../../execution/begin-run.ts';
import { refused } from '../../execution/body/faults.ts';
import type { FileSources } from '../../execution/files/plan-files.ts';
import { Inbox, type OpenExecution, type StoredProgress } from '../../execution/inbox.ts';
import { type FoundPlatforms, findPlatforms, platformReport } from '../../execution/platforms.ts';
import { RunningExecution, resultOf } from '../../execution/run-execution.ts';
import { endLeftovers } from '../../execution/run-process.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { isDiskFull, readJson, writeJson } from '../../folder/write-file.ts';
import { loadIdentity } from '../../identity/identity.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { type ExecutionNews, type Portal, PortalRefusal } from '../../portal/portal.ts';
import { wait } from '../../portal/wait.ts';
import type { LaneCandidate, LaneWork } from '../lane.ts';
import { type AnswerCalls, ExecutionSender } from './execution-sender.ts';
import { awaitsRestart, requestRestart, restartForPlan } from './plan-restart.ts';
import { WaitingExecution } from './waiting-execution.ts';

export interface ExecutionWorkOptions {
  layout: AgentLayout;
  journal: Journal;
  /** The portal; null if this machine gets its plans over AMQP only. */
  portal: Portal | null;
  /** The broker for plans over AMQP; null if there is none. */
  amqp?: AmqpSettings | null;
  /** The `Tag` of log messages; by default, the name of the machine. */
  tag?: string;
  /** Whether the machine's owner allows execution plans. */
  isOn: boolean;
  /** The configured Python; by default the first `python3` in PATH. */
  python?: string;
  environment: Record<string, string | undefined>;
  /** Where files of plans are fetched from. */
  sources: FileSources;
  /** Id of the current boot. */
  boot: string;
  /** Shell command that restarts the machine after a plan that requests it. */
  rebootCommand?: string;
  /**
   * Returns the turn of the newest goal state and the turn of the last goal state that came to rest. Each is null if
   * there is no such goal state.
   */
  goals(): { newest: number | null; rested: number | null };
  /** Makes the lane look for work again. */
  wake(): void;
}

/** Pause after an envelope that cannot be read or stored, in seconds. */
const unreadableSeconds = 60;
const unstorableSeconds = 10;

/** The lane's work on execution plans, which run one at a time in the order of their turns. */
export class ExecutionWork implements LaneWork {
  private readonly options: ExecutionWorkOptions;
  private readonly inbox: Inbox;
  private readonly sender: ExecutionSender;
  private readonly stopping = new AbortController();
  private readonly pauses = backoff(1, 30);
  private found: Promise<FoundPlatforms> | null = null;
  private waiting: WaitingExecution | null = null;
  private open: OpenExecution | null = null;
  private progress: StoredProgress | null = null;
  private running: RunningExecution | null = null;
  /** Stamp of the last execution that the portal has asked this machine to end. */
  private cancelStamp: number | null = null;
  private isPausing = false;
  private isFetching = false;
  private readonly amqp: AmqpChannel | null;

  constructor(options: ExecutionWorkOptions) {
    this.options = options;
    this.inbox = new Inbox(options.layout);
    this.amqp = options.amqp ? this.openAmqp(options.amqp) : null;
    this.sender = new ExecutionSender({
      journal: options.journal,
      answers: (open) => this.answersOf(open),
      inbox: this.inbox,
      onConcluded: () => this.running?.stop('cancel'),
      onDelivered: (open) => this.delivered(open),
    });
  }

  /** Restores the open execution from disk, and detects which programs this machine has. */
  begin(): void {
    const { isOn, environment, python } = this.options;
    if (isOn) this.found = findPlatforms(environment, python);
    const open = this.inbox.readOpen();
    if (open !== null) this.take(open);
  }

  /** Sends progress, transcripts and results until `stopSending` is called. */
  send(): Promise<void> {
    return this.sender.run();
  }

  /** Takes plans over AMQP until `stopSending` is called. Returns immediately if there is no broker. */
  async receiveOverAmqp(): Promise<void> {
    await this.amqp?.run();
  }

  /** Reports what this machine can run, unless the portal already has the same report. */
  async tellPlatforms(): Promise<void> {
    const { portal, layout, isOn } = this.options;
    if (portal === null) return;
    const found = (await this.found) ?? { platforms: new Map(), python: null };
    const report = platformReport(found, isOn);
    const { vmId } = loadIdentity(layout);
    const state = { vmId, report };
    if (JSON.stringify(readJson(layout.platforms)) === JSON.stringify(state)) return;
    const pauses = backoff(1, 60);
    while (!this.stopping.signal.aborted) {
      try {
        await portal.tellPlatforms(report, this.stopping.signal);
        return writeJson(layout.platforms, state);
      } catch (error) {
        // Older portals have no such call.
        if (error instanceof PortalRefusal && [404, 405].includes(error.status)) return;
        await wait(pauses.next(), [this.stopping.signal]);
      }
    }
  }

  /**
   * Processes the news about executions in a response to a poll. Call this after applying the goal state of the same
   * response.
   */
  noteNews({ waiting, cancel }: ExecutionNews): void {
    this.sender.notePortalAnswered();
    this.noteCancel(cancel);
    if (!this.options.isOn) return;
    const before = this.waiting?.stamp;
    if (waiting === null) this.waiting = null;
    else if (waiting.stamp !== before) {
      const { newest, rested } = this.options.goals();
      this.waiting = new WaitingExecution(waiting, newest, rested);
    }
    if (this.waiting?.stamp !== before) this.options.wake();
  }

  /** Ends the execution with this stamp, even if it has not begun. */
  noteCancel(stamp: number | null): void {
    if (stamp === null) return;
    this.cancelStamp = stamp;
    if (this.open?.envelope.stamp === stamp) this.running?.stop('cancel');
  }

  /** Whether the portal has a waiting execution that this agent does not know about. */
  isNews({ waiting }: ExecutionNews): boolean {
    const { isOn } = this.options;
    return isOn && waiting !== null && waiting.stamp !== this.waiting?.stamp;
  }

  /**
   * Whether a newer goal state may replace the current one. An execution may be waiting until the current goal state
   * has come to rest, either to begin or to continue after a restart of the machine (MU-51).
   */
  mayBeOvertaken(): boolean {
    if (this.awaitsGoalState) return this.options.goals().rested !== null;
    return this.waiting?.mayBeOvertaken(this.options.goals().rested) ?? true;
  }

  /** Thumbprints of the keys that decrypt the secret parameters of the open execution. */
  get keysInUse(): string[] {
    const thumbprint = this.open?.envelope.protectedParametersCertThumbprint;
    return thumbprint === undefined ? [] : [thumbprint.toUpperCase()];
  }

  /**
   * Whether the open execution must wait for the goal state to be applied before it begins, or before it continues
   * after a restart of the machine.
   */
  get awaitsGoalState(): boolean {
    const { open, progress } = this;
    if (open === null || progress === null || open.result !== null) return false;
    return progress.run === 0 || progress.boot !== this.options.boot;
  }

  async candidate(): Promise<LaneCandidate | 'wait' | 'rest'> {
    const { open, progress, waiting } = this;
    const { newest, rested } = this.options.goals();
    if (open !== null) {
      if (progress !== null && awaitsRestart(open, progress, this.options.boot)) {
        return { kind: 'execution', turn: open.envelope.turn, isBegun: true, run: () => this.restart(open, progress) };
      }
      // No other execution begins before the portal has the result of this one.
      if (open.result !== null || progress === null) return 'wait';
      const isBegun = !this.awaitsGoalState;
      if (!isBegun && newest !== null && rested === null) return 'wait';
      return { kind: 'execution', turn: open.envelope.turn, isBegun, run: () => this.goOn(open, progress) };
    }
    if (waiting === null) return 'rest';
    if (this.isPausing || !waiting.mayBegin(rested)) return 'wait';
    return { kind: 'execution', turn: waiting.turn, isBegun: false, run: () => this.fetchAlone(waiting) };
  }

  /** Waits until the last result is delivered or the timeout expires. Returns immediately if none is ready to send. */
  async drain(seconds: number): Promise<void> {
    await this.sender.drain(seconds);
  }

  /**
   * Stops the running execution, which continues at the next start of the agent. Processes of its calls keep running.
   */
  stop(): void {
    this.stopping.abort();
    this.running?.stop('stop');
  }

  /** For demos and tests: ends the processes that `stop` left running. */
  async endProcesses(): Promise<void> {
    if (this.open !== null) await endLeftovers(`${this.open.folder}/running`);
  }

  stopSending(): void {
    this.sender.stop();
    this.amqp?.stop();
  }

  private openAmqp(settings: AmqpSettings): AmqpChannel {
    const { journal, isOn } = this.options;
    return new AmqpChannel({
      ...{ settings, journal },
      mayReceive: () => isOn && this.open === null && !this.isFetching && !this.stopping.signal.aborted,
      receive: (message) => this.receive(message),
      onConnected: () => this.sender.notePortalAnswered(),
    });
  }

  /** Stores a plan that arrived over AMQP, so that the lane can run it. */
  private receive(message: ConsumeMessage): MessageOutcome {
    const { journal, goals } = this.options;
    if (this.open !== null || this.isFetching || this.stopping.signal.aborted) return 'later';
    // A plan without a turn comes after the current goal state.
    const given = envelopeOf(message, { turn: goals().newest ?? 0, now: new Date() });
    if (given === null) {
      journal.warn('A message of the broker names no plan and was discarded.');
      return 'useless';
    }
    try {
      this.begun(this.inbox.receive(given.text, given.envelope));
    } catch (error) {
      journal.warn(`A plan could not be stored: ${sentenceOf(error)}. Free space on the disk.`);
      return 'later';
    }
    this.options.wake();
    return 'stored';
  }

  /** Opens an execution that was just stored on disk. Returns whether its Body must run. */
  private begun({ open, reception }: ReturnType<Inbox['receive']>): boolean {
    const { journal } = this.options;
    this.take(open);
    if (reception === 'answered') journal.info(`Execution ${open.planId}: answered before. Its result is sent again.`);
    else if (reception === 'stale') {
      const message = 'The plan is older than what this machine remembers, so it was not run.';
      this.conclude(open, refused(errorCodes.malformed, 'StampTooOld', message));
    }
    return reception === 'new';
  }

  /** Returns the calls for an execution: an answer goes back over the channel that the plan came from. */
  private answersOf({ envelope }: OpenExecution): AnswerCalls {
    const reply = replyOf(envelope);
    const answers = reply === null ? this.options.portal : this.amqp?.answers(reply);
    if (!answers) throw new AgentError('The channel of this execution is no longer configured.');
    return answers;
  }

  private take(open: OpenExecution): void {
    this.open = open;
    this.progress = this.inbox.readProgress(open);
    this.sender.follow(open, this.progress, awaitsRestart(open, this.progress, this.options.boot));
  }

  private delivered(open: OpenExecution): void {
    this.close(open);
    this.options.wake();
  }

  private close(open: OpenExecution): void {
    this.open = null;
    this.progress = null;
    this.amqp?.resume();
    try {
      this.inbox.close(open);
    } catch (error) {
      this.options.journal.warn(`${open.folder} could not be deleted: ${sentenceOf(error)}.`);
    }
  }

  /** Fetches the next execution from the portal and runs it. Until this is done, plans over AMQP are not accepted. */
  private async fetchAlone(asked: WaitingExecution): Promise<void> {
    this.isFetching = true;
    try {
      await this.fetch(asked);
    } finally {
      this.isFetching = false;
      this.amqp?.resume();
    }
  }

  /** Fetches the next execution from the portal and runs it. */
  private async fetch(asked: WaitingExecution): Promise<void> {
    const { portal, journal } = this.options;
    if (portal === null) return;
    let text: string | null;
    try {
      text = await portal.nextExecution(this.stopping.signal);
      this.pauses.reset();
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      const seconds = (error instanceof PortalRefusal ? error.retryAfter : null) ?? this.pauses.next();
      journal.note(`The next execution could not be fetched: ${sentenceOf(error)}.`);
      return this.pause(seconds);
    }
    if (this.waiting === asked) this.waiting = null;
    if (text === null) return;
    const envelope = executionEnvelope.safeParse(jsonOf(text));
    if (!envelope.success) {
      journal.warn('The portal sent an execution that this agent cannot read. An update of the agent may help.');
      this.waiting ??= asked;
      return this.pause(unreadableSeconds);
    }
    let received: ReturnType<Inbox['receive']>;
    try {
      received = this.inbox.receive(text, envelope.data);
    } catch (error) {
      journal.warn(`The next execution could not be stored: ${sentenceOf(error)}. Free space on the disk.`);
      this.waiting ??= asked;
      return this.pause(unstorableSeconds);
    }
    const { open } = received;
    if (!this.begun(received)) return;
    if (await this.sender.acknowledge()) {
      if (this.progress !== null && !this.stopping.signal.aborted) await this.goOn(open, this.progress);
    } else {
      journal.info(`Execution ${open.planId}: ended by the portal before it began.`);
      this.sender.forget();
      this.close(open);
    }
  }

  /** Runs an execution: for the first time, or again after a restart of the agent or the machine. */
  private async goOn(open: OpenExecution, progress: StoredProgress): Promise<void> {
    const { journal, layout, environment, boot, isOn } = this.options;
    const { plan } = open.envelope;
    const name = `Execution ${nameOf(plan) ?? open.planId}`;
    try {
      if (!isOn || this.found === null) {
        await endLeftovers(`${open.folder}/running`);
        const message = 'The owner of this machine has switched execution plans off.';
        return this.conclude(open, refused(errorCodes.failed, 'ExecutionPlansOff', message));
      }
      const why = beginRun(open, progress, boot);
      this.inbox.writeProgress(open, progress);
      journal.info(why === 'first' ? `${name}: begins.` : `${name}: begins again.`);
      const running = new RunningExecution({
        ...{ layout, journal, environment, open, progress, why, boot, tag: this.options.tag },
        sources: this.options.sources,
        canReboot: this.options.rebootCommand !== undefined,
        found: await this.found,
        onCall: (call) => this.sender.noteCall(call),
        onBegin: () => this.sender.noteBegun(),
        onRestarting: () => this.sender.noteRestarting(),
        saveProgress: () => this.inbox.writeProgress(open, progress),
      });
      this.running = running;
      if (this.cancelStamp === open.envelope.stamp) running.stop('cancel');
      if (this.stopping.signal.aborted) running.stop('stop');
      const end = await running.run();
      if (end === null) return;
      journal.info(`${name}: ended with code ${end.code}.`);
      if (running.wantsReboot) {
        requestRestart(progress, boot);
        this.inbox.writeProgress(open, progress);
        this.sender.hold();
      }
      this.conclude(open, end);
      if (running.wantsReboot) await this.restart(open, progress);
    } catch (error) {
      journal.warn(`${name}: ${sentenceOf(error)}`);
      const [code, type] = isDiskFull(error)
        ? [errorCodes.fileUnavailable, 'FileUnavailable']
        : [errorCodes.failed, 'AgentError'];
      this.conclude(open, refused(code, type, `The agent could not run it: ${sentenceOf(error)}.`));
    } finally {
      this.running = null;
    }
  }

  /** Restarts the machine before the result is sent. If that fails, sends the result now. */
  private async restart(open: OpenExecution, progress: StoredProgress): Promise<void> {
    const { rebootCommand: command, journal, boot, environment } = this.options;
    const { inbox, sender } = this;
    sender.noteRestarting();
    const terms = { inbox, journal, boot, command, environment, signal: this.stopping.signal };
    if (!(await restartForPlan(open, progress, terms))) return;
    progress.restart = null;
    inbox.writeProgress(open, progress);
    sender.release();
  }

  private conclude(open: OpenExecution, end: ReturnType<typeof refused>): void {
    const result = resultOf(open, end);
    try {
      this.inbox.conclude(open, result);
    } catch (error) {
      // If the disk is full, the result is still sent.
      open.result = result;
      this.options.journal.warn(`A result could not be stored: ${sentenceOf(error)}. Free space on the disk.`);
    }
    this.sender.wake();
  }

  private pause(seconds: number): void {
    this.isPausing = true;
    void wait(seconds, [this.stopping.signal]).then(() => {
      this.isPausing = false;
      this.options.wake();
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function nameOf(plan: unknown): string | null {
  const name = typeof plan === 'object' && plan !== null && 'Name' in plan ? plan.Name : null;
  return typeof name === 'string' && name !== '' ? name : null;
}
