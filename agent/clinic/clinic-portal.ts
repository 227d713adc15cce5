import { copyFile } from 'node:fs/promises';
import type { CommandName, GoalState, GoalStateExtension, HandlerState } from '#protocol/index.ts';
import type { PolledGoalState, Portal } from '../portal/portal.ts';
import { wait } from '../portal/wait.ts';

/** What the agent told of the handler, and when it came. */
export interface Told {
  state: HandlerState;
  command?: CommandName;
  sequenceNumber: number;
  attempt?: number;
  exitCode?: number;
  timedOut?: boolean;
  /** Absent while the command runs. */
  output?: string;
  at: number;
}

/** The portal of a try: in this process, with one extension, without a network. */
export class ClinicPortal implements Portal {
  readonly told: Told[] = [];
  private goal: GoalState = { protocol: 1, vmId: 'clinic', incarnation: 0, extensions: [] };
  private wake = new AbortController();

  /** From now on the machine should have this; the same again is a goal state of its own. */
  setGoal(extension: GoalStateExtension): void {
    this.goal = { ...this.goal, incarnation: this.goal.incarnation + 1, extensions: [extension] };
    this.wake.abort();
    this.wake = new AbortController();
  }

  /** The first thing told from a place on that fits; waits for it as long as the agent works. */
  async until(from: number, fits: (told: Told) => boolean, signal: AbortSignal): Promise<Told | null> {
    for (;;) {
      const found = this.told.slice(from).find(fits);
      if (found !== undefined || signal.aborted) return found ?? null;
      await wait(0.02, [signal]);
    }
  }

  async goalState(etag: string | null, waitSeconds: number, signal?: AbortSignal): Promise<PolledGoalState> {
    if (etag === this.etag()) await wait(waitSeconds, [signal, this.wake.signal]);
    const document = etag === this.etag() ? null : { text: JSON.stringify(this.goal), etag: this.etag() };
    return { document, pollAfter: 0, wantsLogs: false };
  }

  /** The address of a package is its file. */
  async downloadPackage(url: string, file: string): Promise<void> {
    await copyFile(url, file);
  }

  async report(body: unknown) {
    const { handlers } = body as { handlers: Omit<Told, 'at'>[] };
    for (const one of handlers) this.told.push({ ...one, at: Date.now() });
    return { etag: null, refused: null, wantsLogs: false };
  }

  async sendLog() {}

  async logRequests() {
    return [];
  }

  async sendArchive() {}

  async renewCertificate() {}

  private etag(): string {
    return `"clinic-${this.goal.incarnation}"`;
  }
}
