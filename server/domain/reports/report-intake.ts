import pLimit from 'p-limit';
import pg from 'pg';
import type { Database } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { ingestBatch } from './ingest-batch.ts';
import { type IngestResult, ingestCarefully } from './ingest-carefully.ts';
import type { IngestReportInput } from './input.ts';
import { isPlain, type PreparedReport, prepareReport } from './prepare-report.ts';

/** Batches under way at once: one is written by the disk while others are prepared. */
const batchesAtOnce = 2;
/** A batch costs as much as several reports: beside one that is under way another goes only with so many. */
const enoughForAnother = 64;
/** Milliseconds after which a batch seems to hang, on a row that somebody holds: who comes then does not wait for it. */
const hangingMs = 50;
const batchReports = 500;
const batchBytes = 4 * 1024 * 1024;
/** What the reports of one VM take of a bound at most, so that one VM cannot keep others out. */
const shareOfVm = 1 / 8;
/** Transactions of their own at once; the rest of the pool serves what else the door asks. */
const carefulAtOnce = 4;

/**
 * What the batches ask of their connections: plans by index only, which stay right while tables grow from nothing to a
 * million rows, and no long wait for a row that somebody else holds.
 */
const batchSession =
  '-c lock_timeout=500 -c work_mem=32MB -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_mergejoin=off';

interface Waiting {
  ctx: Context;
  report: PreparedReport;
  bytes: number;
  settle(result: IngestResult): void;
  fail(error: unknown): void;
}

/** How much may wait, in reports and in bytes of their bodies. */
export interface IntakeBounds {
  reports: number;
  bytes: number;
}

/**
 * Gathers the reports of many agents and commits them together: a batch goes when the loop is free, never by a timer.
 * A report is answered after its commit. A VM has one report under way; its next one waits behind it. What waits is
 * bounded: beyond four fifths only reports that conclude something come in, beyond the bound none.
 */
export class ReportIntake {
  readonly #db: Database;
  readonly #pool: pg.Pool;
  readonly #bounds: IntakeBounds;
  readonly #careful = pLimit(carefulAtOnce);
  /** First those that conclude something. */
  readonly #queues: readonly [Queue, Queue] = [new Queue(), new Queue()];
  /** VMs with a report under way or in a queue, and what waits behind it. */
  readonly #vms = new Map<string, Waiting[]>();
  #reports = 0;
  #bytes = 0;
  /** Bytes of bodies that are being read: of all VMs, and of each. */
  #arriving = 0;
  readonly #arrivingOf = new Map<string, number>();
  #underWay = 0;
  #lastBatchAt = 0;
  #scheduled = false;

  constructor(db: Database, bounds: IntakeBounds, onError: (error: unknown) => void) {
    this.#bounds = bounds;
    this.#pool = new pg.Pool({ ...db.$client.options, max: 2 * batchesAtOnce, options: batchSession });
    this.#pool.on('error', onError);
    this.#db = db;
  }

  /** Reports that wait or are under way. */
  get waiting(): number {
    return this.#reports;
  }

  /**
   * Counts a body of a VM that is about to be read, until the returned function is called. Throws 503 `reports_too_many`
   * where a report could not come in whatever it says, and where the bodies that this VM is sending take its share.
   */
  expect(vmId: string, bytes: number): () => void {
    this.#refuseWhenFull();
    if (this.#arriving > 0 && this.#bytes + this.#arriving + bytes > this.#bounds.bytes) throw tooMany();
    const before = this.#arrivingOf.get(vmId) ?? 0;
    if (before > 0 && before + bytes > this.#bounds.bytes * shareOfVm) throw tooMany();
    this.#arriving += bytes;
    this.#arrivingOf.set(vmId, before + bytes);
    return () => {
      this.#arriving -= bytes;
      const left = (this.#arrivingOf.get(vmId) ?? 0) - bytes;
      if (left > 0) this.#arrivingOf.set(vmId, left);
      else this.#arrivingOf.delete(vmId);
    };
  }

  #refuseWhenFull(): void {
    if (this.#reports >= this.#bounds.reports || this.#bytes >= this.#bounds.bytes) throw tooMany();
  }

  /**
   * Takes a report in; resolves when it is committed. Throws what `ingestReport` throws, and 503 `reports_too_many`
   * with a `Retry-After` that differs from caller to caller where too many wait.
   */
  take(ctx: Context, input: IngestReportInput, bytes: number): Promise<IngestResult> {
    this.#refuseWhenFull();
    const report = prepareReport(ctx, input);
    const concludes = report.entries.some(isConclusion);
    if (!concludes && (this.#reports >= this.#bounds.reports * 0.8 || this.#bytes >= this.#bounds.bytes * 0.8)) {
      throw tooMany();
    }
    return new Promise((settle, fail) => {
      const waiting = { ctx, report, bytes, settle, fail };
      const behind = this.#vms.get(report.vmId);
      if (behind !== undefined && !this.#hasRoomBehind(behind, bytes)) {
        fail(tooMany());
        return;
      }
      this.#reports += 1;
      this.#bytes += bytes;
      if (behind !== undefined) {
        behind.push(waiting);
        return;
      }
      this.#vms.set(report.vmId, []);
      this.#enqueue(waiting);
    });
  }

  #hasRoomBehind(behind: readonly Waiting[], bytes: number): boolean {
    const waiting = behind.reduce((sum, each) => sum + each.bytes, bytes);
    return waiting <= this.#bounds.bytes * shareOfVm && behind.length < this.#bounds.reports * shareOfVm;
  }

  /** Ends the connections; what is under way finishes first. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  #enqueue(waiting: Waiting): void {
    if (!isPlain(waiting.report)) {
      this.#takeCarefully(waiting);
      return;
    }
    this.#queues[waiting.report.entries.some(isConclusion) ? 0 : 1].push(waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= batchesAtOnce) return;
    const [first, second] = this.#queues;
    const waits = this.#underWay > 0 && performance.now() - this.#lastBatchAt < hangingMs;
    if (first.length + second.length < (waits ? enoughForAnother : 1)) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#flush();
      this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const queue of this.#queues) {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        batch.push(next);
        bytes += next.bytes;
        if (batch.length >= batchReports || bytes >= batchBytes) break;
      }
      if (batch.length >= batchReports || bytes >= batchBytes) break;
    }
    this.#underWay += 1;
    this.#lastBatchAt = performance.now();
    const taken = await ingestBatch(
      this.#db,
      batch.map(({ report }) => report),
      this.#pool,
    ).catch((error: unknown) => (isOfOneRow(error) ? new Map<string, IngestResult>() : (error as Error)));
    this.#underWay -= 1;
    for (const waiting of batch) {
      if (taken instanceof Error) this.#end(waiting, () => waiting.fail(taken));
      else {
        const result = taken.get(waiting.report.vmId);
        if (result === undefined) this.#takeCarefully(waiting);
        else this.#end(waiting, () => waiting.settle(result));
      }
    }
    this.#schedule();
  }

  #takeCarefully(waiting: Waiting): void {
    this.#careful(() => ingestCarefully(waiting.ctx, waiting.report)).then(
      (result) => this.#end(waiting, () => waiting.settle(result)),
      (error: unknown) => this.#end(waiting, () => waiting.fail(error)),
    );
  }

  #end({ report: { vmId }, bytes }: Waiting, answer: () => void): void {
    this.#reports -= 1;
    this.#bytes -= bytes;
    const next = this.#vms.get(vmId)?.shift();
    if (next === undefined) this.#vms.delete(vmId);
    else this.#enqueue(next);
    answer();
  }
}

const isConclusion = (entry: PreparedReport['entries'][number]): boolean =>
  entry.kind === 'status' && (entry.document.status === 'success' || entry.document.status === 'error');

/** Seconds to stay away, spread so that those who were refused together do not come back together. */
function tooMany(): DomainError {
  const seconds = 1 + Math.floor(Math.random() * 10);
  return new DomainError('unavailable', 'reports_too_many', { params: { seconds }, retryAfter: seconds });
}

/**
 * An error that one row may have brought about (a value, a lock that is held, two batches that wait for each other), as
 * against a database that is away: each report is then taken in by itself, and only the bad one fails.
 */
function isOfOneRow(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?!08|53|57)/.test(error.code ?? '08');
}

/** First in, first out, without moving what is behind. */
class Queue {
  #items: (Waiting | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Waiting): void {
    this.#items.push(item);
  }

  shift(): Waiting | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length || this.#head > 1_024) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
