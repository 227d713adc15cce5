import { parentPort, Worker, workerData } from 'node:worker_threads';

export interface WorkerLimits {
  /** From the question to its answer; loading the module does not count. */
  timeoutMs: number;
  heapMiB: number;
}

/** What came of a task: its value, or the limit that ended it. A throw inside the task rejects instead. */
export type WorkerResult<T> = { ended: 'done'; value: T } | { ended: 'time' | 'memory' };

/** What a worker says: that its module is loaded, then its answer. */
export type WorkerMessage<T> = { ready: true } | { value: T };

/** How long a module may take to load, on a machine that is busy. */
export const loadMs = 15_000;

/** Tasks of one module that run at a time in this process; further ones wait in line. */
const atOnce = 2;
const lines = new Map<string, { running: number; waiting: (() => void)[] }>();

/**
 * Runs a task on hostile input in a thread of its own: what loops for ever or eats memory ends there, while the caller
 * goes on answering. The module calls `answer` below. The thread sees no environment variables.
 */
export async function runInWorker<T>(moduleUrl: URL, input: unknown, limits: WorkerLimits): Promise<WorkerResult<T>> {
  const line = lines.get(moduleUrl.href) ?? { running: 0, waiting: [] };
  lines.set(moduleUrl.href, line);
  if (line.running >= atOnce) await new Promise<void>((resolve) => line.waiting.push(resolve));
  else line.running++;
  try {
    return await runNow<T>(moduleUrl, input, limits);
  } finally {
    const next = line.waiting.shift();
    if (next) next();
    else line.running--;
  }
}

function runNow<T>(moduleUrl: URL, input: unknown, limits: WorkerLimits): Promise<WorkerResult<T>> {
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
      // Whatever still runs in there is ended; its own outcome no longer matters.
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

/** In the worker's module: computes the answer from the input and sends it. */
export async function answer<I, T>(task: (input: I) => T | Promise<T>): Promise<void> {
  if (parentPort === null) throw new Error('answer() is for worker threads');
  const say = (message: WorkerMessage<T>) => parentPort?.postMessage(message);
  say({ ready: true });
  say({ value: await task(workerData as I) });
}
