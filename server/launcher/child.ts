import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ChildOptions {
  name: string;
  /** Arguments for node: the script and its arguments. */
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  say(line: string): void;
  /** Whether the process reports when it is ready. If not, it counts as ready as soon as it has started. */
  tellsReady: boolean;
  /** Keeps the standard output off the terminal, for a process with its own log. */
  quiet?: boolean;
}

/** A process that is restarted when it exits. */
export interface Child {
  /** Resolves when the process is first ready; rejects if it exits before that. */
  ready: Promise<void>;
  pid(): number | undefined;
  /** Restarts the process without a pause, even during a backoff. */
  restart(): Promise<void>;
  /** Stops the process with SIGTERM, and with SIGKILL if necessary. */
  stop(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
/** If a process ran for longer than this, in milliseconds, its backoff starts over. */
const wellAfterMs = 30_000;
const stopMs = 15_000;

/** Starts a process, and restarts it with backoff whenever it exits after it was ready. */
export function keepRunning(options: ChildOptions): Child {
  let current: ChildProcess | undefined;
  let stopping = false;
  let restarting = false;
  let pause = firstPauseMs;
  let wasReady = false;
  let again: NodeJS.Timeout | undefined;
  const ready = Promise.withResolvers<void>();

  const start = (): void => {
    const startedAt = performance.now();
    const gone = (how: string): void => {
      current = undefined;
      if (stopping || restarting) return;
      if (!wasReady) {
        ready.reject(new Error(`The ${options.name} did not start (${how}). Its message is above.`));
        return;
      }
      if (performance.now() - startedAt > wellAfterMs) pause = firstPauseMs;
      options.say(`The ${options.name} exited (${how}) and is being restarted.`);
      again = setTimeout(start, pause);
      pause = Math.min(pause * 2, longestPauseMs);
    };
    let child: ChildProcess;
    try {
      child = spawnChild(options);
    } catch (error) {
      gone(reasonOf(error));
      return;
    }
    current = child;
    const isReady = (): void => {
      if (wasReady && performance.now() - startedAt < wellAfterMs) options.say(`The ${options.name} is running again.`);
      wasReady = true;
      ready.resolve();
    };
    if (options.tellsReady) child.on('message', isReady);
    else child.once('spawn', isReady);
    // If the process could not be spawned, for example for lack of memory, there is no exit event.
    child.once('error', (error) => {
      if (child.pid === undefined) gone(reasonOf(error));
    });
    child.once('exit', (code, signal) => {
      if (child.pid !== undefined) gone(signal ?? `exit code ${code}`);
    });
  };
  start();
  return {
    ready: ready.promise,
    pid: () => current?.pid,
    async restart() {
      if (stopping || restarting) return;
      restarting = true;
      clearTimeout(again);
      pause = firstPauseMs;
      if (current !== undefined) await end(current);
      restarting = false;
      if (!stopping) start();
    },
    async stop() {
      stopping = true;
      clearTimeout(again);
      if (current !== undefined) await end(current);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
  await ended;
  clearTimeout(late);
}

/**
 * Uses a separate process group, so that Ctrl-C in the terminal reaches only the launcher, which stops everything in
 * order.
 */
const spawnChild = ({ args, cwd, env, quiet }: ChildOptions): ChildProcess =>
  spawn(process.execPath, args, {
    cwd,
    env,
    stdio: ['ignore', quiet === true ? 'ignore' : 'inherit', 'inherit', 'ipc'],
    detached: true,
  });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
