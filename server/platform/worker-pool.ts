import { KeptWorker } from './kept-worker.ts';
import type { WorkerLimits, WorkerResult } from './worker-task.ts';

/** The number of threads in a pool, and how long idle threads are kept. */
export interface PoolBounds {
  /** Maximum number of threads. If all are busy, a task with a new key still starts another thread. */
  most: number;
  /** Milliseconds after which an unused thread is closed. */
  idleMs: number;
}

interface Entry<I, T> {
  worker: KeptWorker<I, T>;
  idle: NodeJS.Timeout;
}

/** Keeps a few threads, each with its own setup, for later tasks with the same key. */
export class WorkerPool<I, T> {
  readonly #module: URL;
  readonly #bounds: PoolBounds;
  /** The threads by key, least recently used first. */
  readonly #entries = new Map<string, Entry<I, T>>();

  constructor(module: URL, bounds: PoolBounds) {
    this.#module = module;
    this.#bounds = bounds;
  }

  /** Runs a task on the thread with this key. If there is no such thread, starts one with `setUp` and `limits`. */
  ask(key: string, setUp: unknown, limits: WorkerLimits, input: I): Promise<WorkerResult<T>> {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      clearTimeout(known.idle);
      this.#entries.delete(key);
    }
    const worker = known?.worker ?? new KeptWorker<I, T>(this.#module, setUp, limits);
    this.#entries.set(key, { worker, idle: this.#dropLater(key) });
    for (const [other, entry] of this.#entries) {
      if (this.#entries.size > this.#bounds.most && !entry.worker.busy && other !== key) this.#drop(other);
    }
    return worker.ask(input);
  }

  #dropLater(key: string): NodeJS.Timeout {
    return setTimeout(() => this.#drop(key), this.#bounds.idleMs).unref();
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    clearTimeout(entry.idle);
    if (entry.worker.busy) {
      entry.idle = this.#dropLater(key);
      return;
    }
    this.#entries.delete(key);
    void entry.worker.close();
  }
}
