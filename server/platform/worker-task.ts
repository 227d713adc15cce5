import { parentPort, Worker, workerData } from 'node:worker_threads';

export interface WorkerLimits {
  /** Milliseconds from the input to the result. Loading the module does not count. */
  timeoutMs: number;
  heapMiB: number;
}

/** Result of a task: its value, or the limit that ended it. Errors in the task are thrown instead. */
export type WorkerResult<T> = { ended: 'done'; value: T } | { ended: 'time' | 'memory' };

/** Messages of a worker: first that its module is loaded, then the result of each task. */
export type WorkerMessage<T> = { ready: true } | { value: T };

/** Milliseconds allowed for loading a module, enough for a busy machine. */
export const loadMs = 15_000;

const maxConcurrent = 2;

/**
 * Runs tasks on hostile input, each in its own thread and at most two at a time. Terminates a task that takes too long
 * or exhausts its memory, without affecting the caller. The module must call `answer`. The thread has no environment
 * variables.
 */
export class WorkerTasks<T> {
  readonly #moduleUrl: URL;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(moduleUrl: URL) {
    this.#moduleUrl = moduleUrl;
  }

  async run(input: unknown, limits: WorkerLimits): Promise<WorkerResult<T>> {
    if (this.#running >= maxConcurrent) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await runInWorker<T>(this.#moduleUrl, input, limits);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

function runInWorker<T>(moduleUrl: URL, input: unknown, limits: WorkerLimits): Promise<WorkerResult<T>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(moduleUrl, {
      workerData: input,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMiB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    });
    let settled = false;
    const settle = (act: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      // Terminates the worker, which may still be running.
      worker.terminate().then(act, reject);
    };
    const end = () => settle(() => resolve({ ended: 'time' }));
    let timer = setTimeout(end, loadMs);
    worker.on('message', (message: WorkerMessage<T>) => {
      if ('value' in message) return settle(() => resolve({ ended: 'done', value: message.value }));
      clearTimeout(timer);
      timer = setTimeout(end, limits.timeoutMs);
    });
    worker.once('messageerror', (error) => settle(() => reject(error)));
    worker.once('error', (error: NodeJS.ErrnoException) =>
      settle(() => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ ended: 'memory' }) : reject(error))),
    );
    worker.once('exit', () => settle(() => reject(new Error('the worker ended without an answer'))));
  });
}

/** Called by the worker's module. Computes the result from the input and sends it. */
export async function answer<I, T>(task: (input: I) => T | Promise<T>): Promise<void> {
  if (parentPort === null) throw new Error('answer() is for worker threads');
  const say = (message: WorkerMessage<T>) => parentPort?.postMessage(message);
  say({ ready: true });
  say({ value: await task(workerData as I) });
}
