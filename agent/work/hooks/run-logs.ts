import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentLayout } from '../../folder/layout.ts';
import { discard, readJson, writeJson } from '../../folder/write-file.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { PortalRefusal } from '../../portal/portal.ts';
import type { UnitCalls } from '../../portal/unit-calls.ts';
import { wait } from '../../portal/wait.ts';
import { jsonFilesIn } from '../../unit/unit-file.ts';

const queued = z.object({ unit: z.string(), run: z.uuid(), file: z.string() });

interface Followed extends z.output<typeof queued> {
  /** Number of bytes that the portal has. */
  sent: number;
  /** Whether the hook is still running. */
  isOpen: boolean;
}

const pieceBytes = 1024 * 1024;
/** Beyond this number, the oldest outputs are not uploaded and stay only on the machine. */
const maxQueued = 500;
/** Interval between two parts of an output that grows. */
const usualSeconds = 1;
const idleSeconds = 3600;

/** Uploads the outputs of hooks while they grow (EN-66). Outputs that the portal lacks are listed on disk. */
export class RunLogs {
  private readonly folder: string;
  private readonly portal: Pick<UnitCalls, 'sendRunLog'>;
  private readonly journal: Journal;
  private readonly all = new Map<string, Followed>();
  private readonly pauses = backoff(1, 60);
  private news = new AbortController();
  private drained: (() => void)[] = [];

  constructor({ layout, journal, portal }: { layout: AgentLayout; journal: Journal; portal: RunLogs['portal'] }) {
    this.folder = layout.hookLogs;
    this.portal = portal;
    this.journal = journal;
    for (const name of jsonFilesIn(this.folder)) {
      const parsed = queued.safeParse(readJson(join(this.folder, name)));
      if (parsed.success) this.all.set(parsed.data.run, { ...parsed.data, sent: 0, isOpen: false });
    }
  }

  get isEmpty(): boolean {
    return this.all.size === 0;
  }

  /** Begins to upload the output of a run, which may still grow. */
  follow(unit: string, run: string, file: string): void {
    for (const [oldest] of this.all) if (this.all.size >= maxQueued) this.remove(oldest);
    writeJson(join(this.folder, `${run}.json`), { unit, run, file });
    this.all.set(run, { unit, run, file, sent: 0, isOpen: true });
    this.wake();
  }

  /** Notes that the output of a run is complete. */
  close(run: string): void {
    const followed = this.all.get(run);
    if (followed !== undefined) followed.isOpen = false;
    this.wake();
  }

  wake(): void {
    this.news.abort();
  }

  /** Waits until the portal has all outputs, or until the timeout. */
  async drain(seconds: number): Promise<void> {
    if (this.isEmpty) return;
    const empty = new Promise<void>((resolve) => this.drained.push(resolve));
    this.wake();
    await Promise.race([empty, wait(seconds, [])]);
  }

  /** Uploads outputs until the agent stops. Does not throw, whatever the portal does. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      this.news = new AbortController();
      let pause: number | null = null;
      try {
        for (const each of [...this.all.values()]) await this.send(each, stopping);
        this.pauses.reset();
      } catch (error) {
        pause = (error instanceof PortalRefusal ? error.retryAfter : null) ?? this.pauses.next();
      }
      if (this.isEmpty) for (const resolve of this.drained.splice(0)) resolve();
      if (pause !== null) await wait(pause, [stopping]);
      else await wait(this.isEmpty ? idleSeconds : usualSeconds, [stopping, this.news.signal]);
    }
  }

  /** Uploads what the portal lacks of one output. */
  private async send(followed: Followed, signal: AbortSignal): Promise<void> {
    const { unit, run, file } = followed;
    try {
      for (;;) {
        const isWhole = !followed.isOpen;
        const { bytes, total } = pieceOf(file, followed.sent);
        if (bytes.length === 0) {
          if (isWhole) this.remove(run);
          return;
        }
        const piece = { from: followed.sent, total: isWhole ? total : null, bytes };
        const received = await this.portal.sendRunLog(unit, run, piece, signal);
        // A portal that reports less than it got would receive the same bytes forever.
        followed.sent = received > followed.sent ? Math.min(received, total) : piece.from + bytes.length;
      }
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.passing || error.status === 401) throw error;
      this.journal.note(`The portal rejected the output of a hook, which stays only on this machine: ${error.message}`);
      this.remove(run);
    }
  }

  private remove(run: string): void {
    this.all.delete(run);
    discard(join(this.folder, `${run}.json`));
  }
}

/** Returns the next bytes for the portal, and the size of the file; no bytes if the file was deleted. */
function pieceOf(file: string, sent: number): { bytes: Buffer; total: number } {
  let open: number;
  try {
    open = openSync(file, 'r');
  } catch {
    return { bytes: Buffer.alloc(0), total: 0 };
  }
  try {
    const total = fstatSync(open).size;
    const bytes = Buffer.alloc(Math.max(0, Math.min(pieceBytes, total - sent)));
    return { bytes: bytes.subarray(0, readSync(open, bytes, 0, bytes.length, sent)), total };
  } finally {
    closeSync(open);
  }
}
