import { type ExtensionStep, updatesWithInstall } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../../agent-error.ts';
import { fetchPackage } from '../../handler/fetch-package.ts';
import { discardRoot, foldersOf } from '../../handler/folders.ts';
import type { Journal } from '../../journal.ts';
import { type Backoff, backoff } from '../../portal/backoff.ts';
import { type Portal, PortalRefusal } from '../../portal/portal.ts';
import type { Machine } from '../machine.ts';

export interface FetcherOptions {
  machine: Machine;
  portal: Portal;
  journal: Journal;
  signal: AbortSignal;
  /** Called when a download has ended or may be retried. */
  onChange(): void;
  /** Called when a package is invalid or the portal does not have it. */
  onFailure(step: ExtensionStep, reason: string): void;
}

const limit = 4;

interface Pausing {
  pauses: Backoff;
  timer: NodeJS.Timeout | null;
  /** The last failure reported to the portal. */
  reported: string | null;
}

/**
 * Downloads and unpacks packages in parallel (AZ-G2). Retries temporary errors with backoff while the package is
 * needed.
 */
export class Fetcher {
  private readonly running = new Map<string, Promise<void>>();
  private readonly pausing = new Map<string, Pausing>();
  private readonly options: FetcherOptions;

  constructor(options: FetcherOptions) {
    this.options = options;
  }

  /** Starts downloads that are neither running nor waiting for their retry, up to four at the same time. */
  start(steps: ExtensionStep[]): void {
    for (const step of steps) {
      const key = `${step.handler}-${step.version}`;
      if (this.running.size >= limit) return;
      if (this.running.has(key) || this.pausing.get(key)?.timer) continue;
      const { machine } = this.options;
      if (!this.pausing.has(key) && !machine.isAnyInstalled(step.handler)) {
        for (const name of step.extensions) machine.reportState(name, 'notInstalled');
      }
      const fetch = this.fetch(step, key).finally(() => {
        this.running.delete(key);
        this.options.onChange();
      });
      this.running.set(key, fetch);
    }
  }

  /** Whether a download is running. A download that waits for its retry does not count. */
  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** Cancels the pauses before retries, so that downloads that are still needed start immediately. */
  reset(): void {
    for (const { timer } of this.pausing.values()) clearTimeout(timer ?? undefined);
    this.pausing.clear();
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.running.values());
  }

  private async fetch(step: ExtensionStep, key: string): Promise<void> {
    const { machine, portal, journal, signal } = this.options;
    const extension = machine.goalOf(step.extensions[0] ?? '');
    if (extension === undefined) return;
    try {
      const manifest = await fetchPackage(machine.layout, portal, extension, signal);
      const { handlerManifest } = manifest;
      if (!this.isWanted(step)) {
        discardRoot(machine.layout, foldersOf(machine.layout, step.handler, step.version).root);
        journal.info(`${step.handler} ${step.version} arrived, but is no longer needed.`);
        return;
      }
      machine.putVersion(step.handler, step.version, {
        // An installed version stays installed if its folder was lost and its package was downloaded again.
        ...(machine.versionOf(step) ?? { installed: false }),
        sha256: extension.package.sha256,
        updatesWithInstall: updatesWithInstall(manifest),
        reportHeartbeat: handlerManifest.reportHeartbeat,
        supportsMultipleExtensions: handlerManifest.supportsMultipleExtensions === true,
        rebootAfterInstall: handlerManifest.rebootAfterInstall,
      });
      this.pausing.delete(key);
      journal.info(`${step.extensions.join(', ')}: ${step.handler} ${step.version} downloaded and unpacked.`);
    } catch (error) {
      if (signal.aborted) return;
      const gone = error instanceof PortalRefusal && error.status === 404;
      if (error instanceof AgentError || gone) this.options.onFailure(step, sentenceOf(error));
      else this.pause(step, key, error);
    }
  }

  /**
   * Whether the goal still needs the package. The goal may have changed during the download, and a removed handler must
   * not come back (AZ-G5).
   */
  private isWanted({ handler, version }: ExtensionStep): boolean {
    const { goal } = this.options.machine;
    if (goal === null || this.options.machine.versionOf({ handler, version }) !== undefined) return true;
    return goal.extensions.some(
      (one) => one.handler === handler && one.version === version && one.state !== 'uninstall',
    );
  }

  private pause(step: ExtensionStep, key: string, error: unknown): void {
    const { machine, journal, onChange } = this.options;
    const reason = sentenceOf(error);
    const before = this.pausing.get(key);
    const entry: Pausing = before ?? { pauses: backoff(1, 60), timer: null, reported: null };
    const asked = error instanceof PortalRefusal ? error.retryAfter : null;
    const seconds = asked ?? entry.pauses.next();
    entry.timer = setTimeout(() => {
      entry.timer = null;
      onChange();
    }, seconds * 1000);
    this.pausing.set(key, entry);
    const line = `${step.handler} ${step.version} did not arrive: ${reason}.`;
    journal.warn(`${line} Next try in ${Math.ceil(seconds)} s.`);
    // A first failure may be temporary, so only repeated failures are reported.
    if (before === undefined || entry.reported === reason) return;
    entry.reported = reason;
    for (const name of step.extensions) machine.problem(name, `${line} The agent keeps trying.`);
  }
}
