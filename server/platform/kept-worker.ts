import { parentPort, Worker, workerData } from 'node:worker_threads';
import { loadMs, type WorkerLimits, type WorkerMessage, type WorkerResult } from './worker-task.ts';

type Outcome<T> = WorkerResult<T> | { ended: 'failed'; error: Error };

/**
 * A thread that runs tasks in order. The thread is reused, because starting one takes about 200 ms. It serves only one
 * setup, because a task can leave state behind for the next task. An idle thread does not keep the process alive.
 */
export class KeptWorker<I, T> {
  private readonly module: URL;
  private readonly setUp: unknown;
  private readonly limits: WorkerLimits;
  private worker: Worker | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private settle: (outcome: Outcome<T>) => void = () => {};
  private loaded = false;
  private timer: NodeJS.Timeout | undefined;

  /** `setUp` becomes the module's `workerData`. The module must call `answerEach`. */
  constructor(module: URL, setUp: unknown, limits: WorkerLimits) {
    this.module = module;
    this.setUp = setUp;
    this.limits = limits;
  }

  get busy(): boolean {
    return this.waiting > 0;
  }

  /**
   * Returns the task's result, or which limit it exceeded (time or memory). If a task exceeds a limit or fails, the
   * next task gets a new thread.
   */
  ask(input: I): Promise<WorkerResult<T>> {
    this.waiting++;
    const answer = this.last.then(() => this.askNow(input)).finally(() => this.waiting--);
    this.last = answer.catch(() => {});
    return answer;
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    await worker?.terminate();
  }

  private async askNow(input: I): Promise<WorkerResult<T>> {
    this.worker ??= this.start();
    const { worker } = this;
    worker.ref();
    const outcome = await new Promise<Outcome<T>>((resolve) => {
      this.settle = resolve;
      this.wait(this.loaded ? this.limits.timeoutMs : loadMs);
      worker.postMessage(input);
    });
    clearTimeout(this.timer);
    worker.unref();
    if (outcome.ended !== 'done') await this.close();
    if (outcome.ended === 'failed') throw outcome.error;
    return outcome;
  }

  /** Ends the task if it has no result after this many milliseconds. */
  private wait(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle({ ended: 'time' }), ms);
  }

  private start(): Worker {
    this.loaded = false;
    const worker = new Worker(this.module, {
      workerData: this.setUp,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.limits.heapMiB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    });
    // A terminated worker may still send a message, which is ignored.
    const settle = (outcome: Outcome<T>) => {
      if (this.worker === worker) this.settle(outcome);
    };
    worker.on('message', (message: WorkerMessage<T>) => {
      if ('value' in message) return settle({ ended: 'done', value: message.value });
      if (this.worker !== worker) return;
      this.loaded = true;
      this.wait(this.limits.timeoutMs);
    });
    worker.on('messageerror', (error) => settle({ ended: 'failed', error }));
    worker.on('error', (error: NodeJS.ErrnoException) =>
      settle(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { ended: 'memory' } : { ended: 'failed', error }),
    );
    worker.on('exit', () => settle({ ended: 'failed', error: new Error('the worker ended without an answer') }));
    return worker;
  }
}

/** Called by the worker's module. Creates the task from `setUp`, and runs it for each input. */
export function answerEach<S, I, T>(make: (setUp: S) => (input: I) => T): void {
  if (parentPort === null) throw new Error('answerEach() is for worker threads');
  const port = parentPort;
  const say = (message: WorkerMessage<T>) => port.postMessage(message);
  let task: ((input: I) => T) | null = null;
  port.on('message', (input: I) => {
    task ??= make(workerData as S);
    say({ value: task(input) });
  });
  say({ ready: true });
}
