import { randomUUID } from 'node:crypto';
import type { HandlerEntry } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import type { Journal } from '../journal.ts';
import { backoff } from '../portal/backoff.ts';
import { type ExecutionNews, type Portal, PortalRefusal } from '../portal/portal.ts';
import type { UnitNews } from '../portal/unit-calls.ts';
import { wait } from '../portal/wait.ts';
import { type BootMoment, secondsSince } from '../watch/moment.ts';
import type { ReadFile } from '../watch/read-document.ts';
import { countOf, type Entries, noEntries, Outbox, type QueuedReport } from './outbox.ts';

export interface ReporterOptions {
  layout: AgentLayout;
  portal: Portal;
  journal: Journal;
  periods: { heartbeatSeconds: number; statusSeconds: number };
  /** Returns the ETag of the current goal state, or null. */
  appliedEtag(): string | null;
  /** Called with the ETag of the portal's goal state, which each response to a report contains. */
  onEtag(etag: string): void;
  /** Called if operators are waiting for log folders. */
  onLogsWanted(): void;
  /** Called with the news about executions that each response contains. */
  onExecutions(news: ExecutionNews): void;
  /** Returns the stamp of the unit state that the agent knows of. */
  unitStamp?(): string | null;
  /** Called with the news about units that each response contains. */
  onUnits?(news: UnitNews): void;
}

/** Limits for the entries of a report; by default, the portal accepts 1 MiB and 200 entries. */
const maxBytes = 768 * 1024;
const maxEntries = 150;

/**
 * Collects what to report, stores it on disk, and sends the reports in order. Resends each report until it is
 * acknowledged or permanently rejected.
 */
export class Reporter {
  private gathered: Entries = noEntries();
  private gatheredBytes = 0;
  private readonly outbox: Outbox;
  private readonly options: ReporterOptions;
  private readonly pauses = backoff(1, 30);
  private readonly stopping = new AbortController();
  /** Ends a pause after a failed attempt. */
  private retry = new AbortController();
  /**
   * Ends the wait for something to send. A new report does not end a pause; otherwise, every new report would add load
   * to a failing portal.
   */
  private added = new AbortController();
  private flushing: NodeJS.Immediate | undefined;
  private drained: (() => void)[] = [];

  constructor(options: ReporterOptions) {
    this.options = options;
    this.outbox = new Outbox(options.layout.reports, randomUUID());
  }

  handler(entry: Partial<HandlerEntry> & Pick<HandlerEntry, 'extension' | 'sequenceNumber' | 'state'>): void {
    this.add('handlers', entry);
  }

  heartbeat(extension: string, { file, ageSeconds, readAt }: ReadFile): void {
    this.add('heartbeats', { extension, ageSeconds, readAt, file });
  }

  status(extension: string, sequenceNumber: number, { file, ageSeconds, readAt }: ReadFile): void {
    this.add('statuses', { extension, sequenceNumber, ageSeconds, readAt, file });
  }

  problem(about: string, message: string, file?: 'status' | 'heartbeat'): void {
    this.add('problems', { about, message: message.slice(0, 1024), file });
  }

  /** Queues restart requests synchronously. Returns false if they could not be queued. */
  pendingRestart(requests: NonNullable<Entries['pendingRestart']>): boolean {
    this.gathered.pendingRestart = requests;
    return this.flush();
  }

  /** Retries queued reports immediately, because the portal has responded. */
  notePortalAnswered(): void {
    if (this.outbox.size === 0) return;
    this.pauses.reset();
    this.retry.abort();
  }

  /** Resolves when everything is acknowledged, or after the timeout. */
  async drain(seconds: number): Promise<void> {
    this.flush();
    if (this.outbox.size === 0) return;
    this.retry.abort();
    const empty = new Promise<void>((resolve) => this.drained.push(resolve));
    await Promise.race([empty, wait(seconds, [this.stopping.signal])]);
  }

  stop(): void {
    this.flush();
    this.stopping.abort();
  }

  /** Sends reports until `stop` is called. Does not throw, whatever the portal does. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const report = this.outbox.first();
      if (report === null) {
        for (const resolve of this.drained.splice(0)) resolve();
        this.added = new AbortController();
        await wait(3600, [this.added.signal, this.stopping.signal]);
        continue;
      }
      this.retry = new AbortController();
      const pause = await this.send(report);
      if (pause > 0) await wait(pause, [this.retry.signal, this.stopping.signal]);
    }
  }

  /** Sends one report. Returns the seconds to wait before the next attempt. */
  private async send(report: QueuedReport): Promise<number> {
    const { journal } = this.options;
    try {
      const { etag, refused, wantsLogs, executions, units } = await this.options.portal.report(
        this.bodyOf(report),
        this.options.unitStamp?.(),
      );
      this.outbox.remove(report.reportNumber);
      this.pauses.reset();
      if (refused !== null) journal.warn('The portal rejected some entries of a report.', { answer: refused });
      if (etag !== null) this.options.onEtag(etag);
      if (wantsLogs) this.options.onLogsWanted();
      this.options.onExecutions(executions);
      if (units !== undefined) this.options.onUnits?.(units);
      return 0;
    } catch (error) {
      if (this.stopping.signal.aborted) return 0;
      if (error instanceof PortalRefusal && [400, 413, 415, 422].includes(error.status)) {
        // The portal would always reject this report, and the reports after it would never be sent.
        journal.warn(`The portal rejected a report, which is dropped: ${error.message}`, { code: error.code });
        this.outbox.remove(report.reportNumber);
        return 0;
      }
      const passing = !(error instanceof PortalRefusal) || error.passing;
      const asked = error instanceof PortalRefusal ? error.retryAfter : null;
      const own = this.pauses.next();
      const pause = asked ?? (passing ? own : 60);
      journal.note(`A report is waiting: ${sentenceOf(error)}`, { waiting: this.outbox.size, pause });
      return pause;
    }
  }

  private bodyOf({
    run,
    reportNumber,
    handlers,
    heartbeats,
    statuses,
    problems,
    pendingRestart,
  }: QueuedReport): Record<string, unknown> {
    const now = Date.now();
    const timed = <T extends { readAt: BootMoment }>({ readAt, ...entry }: T) => ({
      ...entry,
      readSecondsAgo: secondsSince(readAt),
    });
    return {
      run,
      reportNumber,
      agentTime: new Date(now).toISOString(),
      appliedEtag: this.options.appliedEtag() ?? undefined,
      periods: this.options.periods,
      handlers,
      heartbeats: heartbeats.map(timed),
      statuses: statuses.map(timed),
      ...(problems.length === 0 ? {} : { problems }),
      pendingRestart: pendingRestart?.map(({ since, ...request }) => ({
        ...request,
        requestedSecondsAgo: secondsSince(since),
      })),
    };
  }

  private add<K extends Exclude<keyof Entries, 'pendingRestart'>>(kind: K, entry: Entries[K][number]): void {
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    if (countOf(this.gathered) >= maxEntries || this.gatheredBytes + bytes > maxBytes) this.flush();
    (this.gathered[kind] as Entries[K][number][]).push(entry);
    this.gatheredBytes += bytes;
    this.flushing ??= setImmediate(() => this.flush());
  }

  /** Queues the collected entries. Returns false if they are lost. */
  private flush(): boolean {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (countOf(this.gathered) === 0) return true;
    let isKept = true;
    try {
      this.outbox.add(this.gathered);
    } catch (error) {
      this.options.journal.warn(
        `A report could not be written and is lost: ${sentenceOf(error)}. Free space on the disk.`,
      );
      isKept = false;
    }
    this.gathered = noEntries();
    this.gatheredBytes = 0;
    this.added.abort();
    return isKept;
  }
}
