import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { discard, isDiskFull, readJson, writeJson } from '../folder/write-file.ts';
import { moment } from '../watch/moment.ts';
import { openQueueFolder, queueFile } from './queue-folder.ts';

const read = z.object({ extension: z.string(), ageSeconds: z.number(), readAt: moment, file: z.unknown() });
const entries = z.object({
  handlers: z.array(z.looseObject({ extension: z.string() })),
  heartbeats: z.array(read),
  statuses: z.array(read.extend({ sequenceNumber: z.int() })),
  problems: z.array(
    z.object({ about: z.string(), message: z.string(), file: z.enum(['status', 'heartbeat']).optional() }),
  ),
  /** All pending restart requests; absent if the report does not include them. */
  pendingRestart: z
    .array(
      z.object({
        handler: z.string(),
        version: z.string(),
        extensions: z.array(z.string()),
        since: moment,
        byAgent: z.boolean().optional(),
      }),
    )
    .optional(),
});
const queued = entries.extend({ run: z.string(), reportNumber: z.int() });

export type Entries = z.infer<typeof entries>;
export type QueuedReport = z.infer<typeof queued>;

export function noEntries(): Entries {
  return { handlers: [], heartbeats: [], statuses: [], problems: [] };
}

/**
 * In a queue longer than this, a status replaces earlier statuses with the same sequence number, even if their contents
 * differ.
 */
const manyWaiting = 500;
/** How many reports are kept in memory while the disk is full. */
const maxUnwritten = 100;

/** The queue of reports that the portal has not acknowledged, stored on disk. */
export class Outbox {
  private readonly folder: string;
  private readonly run: string;
  private readonly many: number;
  private readonly numbers: number[];
  private last: number;
  /** The reports that a full disk rejected. They are sent too, but are lost if the process ends first. */
  private readonly unwritten = new Map<number, QueuedReport>();

  constructor(folder: string, run: string, many = manyWaiting) {
    this.folder = folder;
    this.run = run;
    this.many = many;
    this.numbers = openQueueFolder(folder);
    this.last = this.numbers.at(-1) ?? 0;
  }

  get size(): number {
    return this.numbers.length;
  }

  add(report: Entries): void {
    this.last += 1;
    const next: QueuedReport = { ...report, run: this.run, reportNumber: this.last };
    try {
      this.supersede(report);
      writeJson(this.pathOf(this.last), next);
    } catch (error) {
      if (!isDiskFull(error) || this.unwritten.size >= maxUnwritten) throw error;
      this.unwritten.set(this.last, next);
    }
    this.numbers.push(this.last);
  }

  /** Returns the oldest readable report, and deletes the unreadable reports before it. */
  first(): QueuedReport | null {
    for (const number of [...this.numbers]) {
      const parsed = queued.safeParse(this.unwritten.get(number) ?? readJson(this.pathOf(number)));
      if (parsed.success) return parsed.data;
      this.remove(number);
    }
    return null;
  }

  remove(reportNumber: number): void {
    const index = this.numbers.indexOf(reportNumber);
    if (index >= 0) this.numbers.splice(index, 1);
    if (!this.unwritten.delete(reportNumber)) discard(this.pathOf(reportNumber));
  }

  /**
   * Removes from queued reports what the new report supersedes: earlier heartbeats of an extension, and statuses and
   * problems that the new report repeats. In a long queue, a status supersedes every earlier status with the same
   * sequence number.
   */
  private supersede(report: Entries): void {
    // The first report may be in transit.
    for (const number of this.numbers.slice(1)) {
      const parsed = queued.safeParse(readJson(this.pathOf(number)));
      if (!parsed.success) continue;
      const waiting = parsed.data;
      const heartbeats = waiting.heartbeats.filter(
        (one) => !report.heartbeats.some((newer) => newer.extension === one.extension),
      );
      const isMany = this.numbers.length > this.many;
      const statuses = waiting.statuses.filter((one) => !report.statuses.some((newer) => isSame(one, newer, isMany)));
      const problems = waiting.problems.filter(
        (one) => !report.problems.some((newer) => isDeepStrictEqual(one, newer)),
      );
      const left = { ...waiting, heartbeats, statuses, problems };
      if (countOf(left) === countOf(waiting)) continue;
      if (countOf(left) === 0) this.remove(number);
      else writeJson(this.pathOf(number), left);
    }
  }

  private pathOf(number: number): string {
    return queueFile(this.folder, number);
  }
}

function isSame(
  one: Entries['statuses'][number],
  newer: Entries['statuses'][number],
  ignoresContent: boolean,
): boolean {
  return (
    one.extension === newer.extension &&
    one.sequenceNumber === newer.sequenceNumber &&
    (ignoresContent || JSON.stringify(one.file) === JSON.stringify(newer.file))
  );
}

export function countOf({ handlers, heartbeats, statuses, problems, pendingRestart }: Entries): number {
  const restarts = pendingRestart === undefined ? 0 : 1;
  return handlers.length + heartbeats.length + statuses.length + problems.length + restarts;
}
