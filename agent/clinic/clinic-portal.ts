import { copyFile } from 'node:fs/promises';
import type { CommandName, GoalState, GoalStateExtension, HandlerState } from '#protocol/index.ts';
import { noExecutions, type PolledGoalState, type Portal } from '../portal/portal.ts';
import { wait } from '../portal/wait.ts';

/** A reported state of the handler, and when it arrived. */
export interface HandlerUpdate {
  state: HandlerState;
  command?: CommandName;
  sequenceNumber: number;
  attempt?: number;
  exitCode?: number;
  timedOut?: boolean;
  /** The output of the command; set once the command has ended. */
  output?: string;
  at: number;
}

/** An in-process portal for a trial: serves one extension, without a network. */
export class ClinicPortal implements Portal {
  readonly updates: HandlerUpdate[] = [];
  private goal: GoalState = { protocol: 1, vmId: 'clinic', incarnation: 0, extensions: [] };
  private wake = new AbortController();

  /** Sets the goal of the machine. Setting the same goal again publishes a new goal state. */
  setGoal(extension: GoalStateExtension): void {
    this.goal = { ...this.goal, incarnation: this.goal.incarnation + 1, extensions: [extension] };
    this.wake.abort();
    this.wake = new AbortController();
  }

  /**
   * Returns the first matching update at or after index `from`, waiting for such an update if necessary; null if the
   * signal aborts first.
   */
  async until(
    from: number,
    fits: (update: HandlerUpdate) => boolean,
    signal: AbortSignal,
  ): Promise<HandlerUpdate | null> {
    for (;;) {
      const found = this.updates.slice(from).find(fits);
      if (found !== undefined || signal.aborted) return found ?? null;
      await wait(0.02, [signal]);
    }
  }

  async goalState(etag: string | null, waitSeconds: number, signal?: AbortSignal): Promise<PolledGoalState> {
    if (etag === this.etag()) await wait(waitSeconds, [signal, this.wake.signal]);
    const document = etag === this.etag() ? null : { text: JSON.stringify(this.goal), etag: this.etag() };
    return { document, pollAfter: 0, wantsLogs: false, executions: noExecutions };
  }

  /** Copies the package. In a trial, a package's URL is the path of its file. */
  async downloadPackage(url: string, file: string): Promise<void> {
    await copyFile(url, file);
  }

  async report(body: unknown) {
    const { handlers } = body as { handlers: Omit<HandlerUpdate, 'at'>[] };
    for (const one of handlers) this.updates.push({ ...one, at: Date.now() });
    return { etag: null, refused: null, wantsLogs: false, executions: noExecutions };
  }

  async sendLog() {}

  async logRequests() {
    return [];
  }

  async sendArchive() {}

  async renewCertificate() {}

  async describeAgent() {}

  async nextExecution() {
    return null;
  }

  async sendProgress() {
    return null;
  }

  async sendTranscript() {
    return { received: 0, nextAfter: null };
  }

  async sendResult() {}

  async tellPlatforms() {}

  private etag(): string {
    return `"clinic-${this.goal.incarnation}"`;
  }
}
