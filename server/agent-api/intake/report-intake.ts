import pLimit from 'p-limit';
import pg from 'pg';
import type { Database } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import {
  type IngestReportInput,
  type IngestResult,
  ingestBatch,
  ingestCarefully,
  isPlain,
  type PreparedReport,
  prepareReport,
} from '#server/domain/reports/index.ts';
import { deleteVm } from '#server/domain/vm-lifecycle/index.ts';
import { Queue } from './queue.ts';

/** Maximum number of concurrent batches. With two, one batch is prepared while the other is written to disk. */
const batchesAtOnce = 2;
/**
 * Every batch has a fixed cost, about as high as the cost of several reports. While one batch is running, the next
 * starts only once this many reports are queued.
 */
const enoughForAnother = 64;
/**
 * A batch that takes longer than this is probably waiting for a row lock, so the next batch starts even if fewer
 * reports are queued than the minimum.
 */
const hangingMs = 50;
const batchReports = 500;
const batchBytes = 4 * 1024 * 1024;
/** The fraction of each limit that one VM may use, so that it cannot lock out other VMs. */
const shareOfVm = 1 / 8;
/** Maximum number of concurrent transactions for single reports. The rest of the pool is left for other calls. */
const carefulAtOnce = 4;

/**
 * Session settings for the connections of batches: a short lock timeout, and only plans that use indexes. Such plans
 * stay efficient while tables grow from empty to a million rows.
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

/** Limits on the queue: number of reports, and bytes of their bodies. */
export interface IntakeBounds {
  reports: number;
  bytes: number;
}

/**
 * Queues the reports of many agents and commits them in batches. A batch starts once pending events have been
 * processed, not by a timer. A report is acknowledged after its commit. Reports of one VM are processed one after the
 * other. At 80% of its limits, the queue starts to reject reports without a final status; at its limits, it rejects all
 * reports.
 */
export class ReportIntake {
  readonly #db: Database;
  readonly #pool: pg.Pool;
  readonly #bounds: IntakeBounds;
  readonly #careful = pLimit(carefulAtOnce);
  /** The first queue is for reports with a final status, and is emptied first. */
  readonly #queues = [new Queue<Waiting>(), new Queue<Waiting>()] as const;
  /**
   * The VMs with a report that is queued or in progress. Each VM's later reports wait here until that report is done.
   */
  readonly #vms = new Map<string, Waiting[]>();
  #reports = 0;
  #bytes = 0;
  /** Bytes of bodies that are being received, in total and per VM. */
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

  /** Number of reports that are queued or in progress. */
  get waiting(): number {
    return this.#reports;
  }

  /**
   * Reserves space for a body that is about to be received, until the returned function is called. Throws 503
   * `reports_too_many` if the queue is full, or if this body, together with other bodies, would exceed the queue's
   * limit or the VM's share.
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
   * Queues a report, and resolves when it is committed. Throws what `ingestReport` throws, and 503 `reports_too_many`
   * with a random `Retry-After` if the queue or the VM's share is full. For reports without a final status, the queue
   * is full at 80% of its limits.
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

  /** Waits for the running batches, then closes their connections. */
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
    this.#careful(() => ingestCarefully(waiting.ctx, waiting.report, deleteVm)).then(
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

/** Retry times are random, so that agents that were rejected together do not retry together. */
function tooMany(): DomainError {
  const seconds = 1 + Math.floor(Math.random() * 10);
  return new DomainError('unavailable', 'reports_too_many', { params: { seconds }, retryAfter: seconds });
}

/**
 * Whether a single row may have caused the error (an invalid value, a lock timeout or a deadlock), rather than an
 * unavailable database. If so, the reports are ingested one by one, so that only the faulty report fails.
 */
function isOfOneRow(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?!08|53|57)/.test(error.code ?? '08');
}
