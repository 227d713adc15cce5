import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ExecutionCall, errorCodes } from '#protocol/executions/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { refused } from '../../execution/body/faults.ts';
import type { Inbox, OpenExecution, StoredProgress } from '../../execution/inbox.ts';
import { resultOf } from '../../execution/run-execution.ts';
import { isDiskFull } from '../../folder/write-file.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { type Portal, PortalRefusal } from '../../portal/portal.ts';
import { wait } from '../../portal/wait.ts';
import { secondsSince } from '../../watch/moment.ts';

const pieceBytes = 1024 * 1024;
/** Seconds between requests, unless the portal specifies an interval. */
const usualSeconds = 1;
/** Maximum number of calls in one progress report. */
const callsAtOnce = 1_000;

/** The calls that send updates about an execution over the channel of its plan. */
export type AnswerCalls = Pick<Portal, 'sendProgress' | 'sendTranscript' | 'sendResult'>;

export interface SenderOptions {
  /** Returns the calls for an execution. Throws if there is no way to send anything now. */
  answers(open: OpenExecution): AnswerCalls;
  journal: Journal;
  inbox: Inbox;
  /** Called if the portal has ended the execution or does not know it. */
  onConcluded(open: OpenExecution): void;
  /** Called when the portal has accepted or permanently rejected the result. */
  onDelivered(open: OpenExecution): void;
}

interface Followed {
  open: OpenExecution;
  progress: StoredProgress;
  isAcknowledged: boolean;
  /** Whether the Body has begun in this run of the agent. */
  hasBegun: boolean;
  /** The state last reported to the portal; null if none has been reported. */
  told: 'running' | 'restarting' | null;
  state: 'running' | 'restarting';
  /** Whether the result is not sent yet, because the machine restarts first. */
  isHeld: boolean;
  /** Whether the portal rejects further parts of the transcript. */
  isMute: boolean;
  calls: Map<number, ExecutionCall>;
}

/**
 * Sends the progress, transcript and result of an execution. Resends the result until the portal accepts or permanently
 * rejects it.
 */
export class ExecutionSender {
  private readonly options: SenderOptions;
  private readonly stopping = new AbortController();
  private readonly pauses = backoff(1, 30);
  private followed: Followed | null = null;
  private news = new AbortController();
  private retry = new AbortController();
  private drained: (() => void)[] = [];

  constructor(options: SenderOptions) {
    this.options = options;
  }

  /**
   * Makes this the execution whose progress, transcript and result are sent. `isHeld`: the result waits for a restart
   * of the machine.
   */
  follow(open: OpenExecution, progress: StoredProgress, isHeld: boolean): void {
    const isBegun = progress.run > 0;
    const flags = { isAcknowledged: isBegun, hasBegun: false, isHeld, isMute: false };
    this.followed = { open, progress, ...flags, told: null, state: 'running', calls: new Map() };
    // A new plan is acknowledged by `acknowledge`, before anything else is sent.
    if (isBegun || open.result !== null) this.wake();
  }

  /** Stops sending data about the execution. */
  forget(): void {
    this.followed = null;
  }

  /** Reports that the Body is running. */
  noteBegun(): void {
    if (this.followed !== null) this.followed.hasBegun = true;
    this.wake();
  }

  /** Reports that the execution waits for a restart of the machine. */
  noteRestarting(): void {
    if (this.followed === null) return;
    this.followed.state = 'restarting';
    this.followed.hasBegun = true;
    this.wake();
  }

  /** Holds back the result until `release` is called. */
  hold(): void {
    if (this.followed !== null) this.followed.isHeld = true;
  }

  release(): void {
    if (this.followed !== null) this.followed.isHeld = false;
    this.wake();
  }

  /** Adds a changed call to the next progress report. */
  noteCall(call: ExecutionCall): void {
    this.followed?.calls.set(call.n, call);
  }

  /** Sends new data immediately, except during a pause after a failure. */
  wake(): void {
    this.news.abort();
  }

  notePortalAnswered(): void {
    if (this.followed === null) return;
    this.pauses.reset();
    this.retry.abort();
  }

  /**
   * Confirms to the portal that the plan is stored on disk. Returns false if the portal has ended the execution or does
   * not know it. After any other failure, the confirmation is sent again later.
   */
  async acknowledge(): Promise<boolean> {
    const { followed } = this;
    if (followed === null) return false;
    try {
      await this.sendReceived(followed);
      return true;
    } catch (error) {
      return !isOver(error);
    } finally {
      this.wake();
    }
  }

  /** Waits until the result is delivered or the timeout expires. Returns immediately if no result is ready to send. */
  async drain(seconds: number): Promise<void> {
    if (this.followed?.open.result == null || this.followed.isHeld) return;
    this.retry.abort();
    const empty = new Promise<void>((resolve) => this.drained.push(resolve));
    await Promise.race([empty, wait(seconds, [this.stopping.signal])]);
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Sends data until `stop` is called. Does not throw, whatever the portal does. */
  async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const { followed } = this;
      this.news = new AbortController();
      this.retry = new AbortController();
      if (followed === null) {
        for (const resolve of this.drained.splice(0)) resolve();
        if (this.followed === null) await wait(3600, [this.news.signal, signal]);
        continue;
      }
      const { seconds, isFailure } = await this.send(followed);
      if (this.followed !== followed) continue;
      await wait(seconds, isFailure ? [this.retry.signal, signal] : [this.news.signal, signal]);
    }
  }

  /** Sends new data. Returns how many seconds to wait before sending again, and whether sending failed. */
  private async send(followed: Followed): Promise<{ seconds: number; isFailure: boolean }> {
    const { open } = followed;
    try {
      if (!followed.isAcknowledged) await this.sendReceived(followed);
      const isOpen = open.result === null || followed.isHeld;
      let next = followed.hasBegun ? await this.sendProgress(followed) : null;
      next = (await this.sendTranscript(followed, !isOpen)) ?? next;
      if (!isOpen) await this.sendResult(open);
      this.pauses.reset();
      return { seconds: isOpen ? (next ?? usualSeconds) : 0, isFailure: false };
    } catch (error) {
      if (this.stopping.signal.aborted) return { seconds: 0, isFailure: false };
      return { seconds: this.pauseAfter(followed, error), isFailure: true };
    }
  }

  private async sendReceived(followed: Followed): Promise<void> {
    const body = { run: 1, state: 'received', sentMsAgo: 0 } as const;
    await this.options.answers(followed.open).sendProgress(followed.open.envelope.id, body, this.stopping.signal);
    followed.isAcknowledged = true;
  }

  private async sendProgress(followed: Followed): Promise<number | null> {
    const { open, progress, calls, state } = followed;
    const changed = [...calls.values()].slice(0, callsAtOnce);
    if (followed.told === state && changed.length === 0) return null;
    const sentMsAgo = progress.begunAt === null ? 0 : Math.round(secondsSince(progress.begunAt) * 1000);
    const body = { run: progress.run, state, sentMsAgo, calls: changed };
    let next: number | null = null;
    try {
      next = await this.options.answers(open).sendProgress(open.envelope.id, body, this.stopping.signal);
    } catch (error) {
      // The result is sent even if the portal has ended the execution.
      if (!(isOver(error) && open.result !== null)) throw error;
    }
    followed.told = state;
    for (const call of changed) if (calls.get(call.n) === call) calls.delete(call.n);
    return calls.size > 0 ? this.sendProgress(followed) : next;
  }

  /** Sends the part of the transcript that the portal lacks. `isWhole`: the transcript is complete. */
  private async sendTranscript(followed: Followed, isWhole: boolean): Promise<number | null> {
    const { open, progress, isMute } = followed;
    const file = join(open.folder, 'transcript.jsonl');
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const before = progress.sent;
    let next: number | null = null;
    while (progress.sent < size && !isMute) {
      const bytes = bytesOf(file, progress.sent, Math.min(pieceBytes, size - progress.sent));
      const piece = { from: progress.sent, total: isWhole ? size : null, bytes };
      const answer = await this.options.answers(open).sendTranscript(open.envelope.id, piece, this.stopping.signal);
      progress.sent = Math.min(Math.max(answer.received, 0), piece.from + bytes.length);
      if (progress.sent <= piece.from) progress.sent = piece.from + bytes.length;
      next = answer.nextAfter;
    }
    if (progress.sent !== before) this.storeProgress(open, progress);
    return next;
  }

  /**
   * Records how much of the transcript the portal has. If the disk is full, nothing is recorded, and the agent sends
   * this part again after a restart.
   */
  private storeProgress(open: OpenExecution, progress: StoredProgress): void {
    try {
      this.options.inbox.writeProgress(open, progress);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  private async sendResult(open: OpenExecution): Promise<void> {
    const { answers, journal } = this.options;
    try {
      await answers(open).sendResult(open.envelope.id, open.result ?? '', this.stopping.signal);
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.passing || [401, 409].includes(error.status)) throw error;
      journal.warn(`The portal rejected the result of an execution: ${error.message}`, { code: error.code });
      if ([400, 413].includes(error.status) && !isReplaced(open)) {
        const end = refused(errorCodes.failed, 'ResultRejected', `The portal rejected the result: ${error.message}.`);
        this.options.inbox.conclude(open, resultOf(open, end));
        await answers(open).sendResult(open.envelope.id, open.result ?? '', this.stopping.signal);
      }
    }
    this.followed = null;
    this.options.onDelivered(open);
  }

  private pauseAfter(followed: Followed, error: unknown): number {
    const { journal, onConcluded } = this.options;
    if (isOver(error)) {
      if (followed.open.result === null) onConcluded(followed.open);
      followed.isMute ||= error instanceof PortalRefusal && error.status === 404;
      followed.isAcknowledged = true;
      return usualSeconds;
    }
    if (error instanceof PortalRefusal && !error.passing && [413, 422].includes(error.status)) {
      journal.warn(`The portal takes no more of a transcript: ${error.message}`, { code: error.code });
      followed.isMute = true;
      return 0;
    }
    journal.note(`News of an execution is waiting: ${sentenceOf(error)}`);
    const asked = error instanceof PortalRefusal ? error.retryAfter : null;
    return asked ?? this.pauses.next();
  }
}

/** Whether the portal rejected a request because the execution has ended or is unknown. */
function isOver(error: unknown): boolean {
  if (!(error instanceof PortalRefusal)) return false;
  return error.status === 404 || error.code === 'execution_concluded';
}

const isReplaced = ({ result }: OpenExecution): boolean => result?.includes('"Type":"ResultRejected"') === true;

function bytesOf(file: string, from: number, length: number): Buffer {
  const open = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(open, bytes, 0, length, from));
  } finally {
    closeSync(open);
  }
}
