import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionPool } from './pool.ts';
import type { Schedule } from './schedule.ts';
import type { Tally } from './tally.ts';

/** One kind of call, which agents make on a schedule. */
export interface Stream {
  schedule: Schedule;
  request(agent: number): string;
  wanted: readonly number[];
  tally: Tally;
}

export interface OpenLoop {
  /** Number of calls that are due and have no response yet. */
  outstanding(): number;
  /** Stops starting calls and waits for responses, for at most this many seconds. */
  stop(seconds: number): Promise<void>;
}

/**
 * Makes each call when it is due, whether or not earlier calls have a response. Latency counts from the due time, so it
 * includes waiting in this process. With `sleeps: false`, the loop uses a whole core, so that wake-ups of this process
 * do not distort the result.
 */
export function startOpenLoop(
  pool: ConnectionPool,
  streams: readonly Stream[],
  { sleeps = true }: { sleeps?: boolean } = {},
): OpenLoop {
  const start = performance.now();
  let running = true;
  const tick = (): void => {
    if (!running) return;
    const now = performance.now() - start;
    for (const { schedule, request, wanted, tally } of streams) {
      while (schedule.nextAt <= now) {
        const dueAt = start + schedule.nextAt;
        pool.send(request(schedule.take()), (reply) => tally.take(reply, wanted, performance.now() - dueAt));
      }
    }
    if (sleeps) setTimeout(tick, 1);
    else setImmediate(tick);
  };
  tick();
  const outstanding = (): number => pool.waiting + pool.underWay;
  return {
    outstanding,
    async stop(seconds) {
      running = false;
      for (let tenth = 0; tenth < seconds * 10 && outstanding() > 0; tenth += 1) await delay(100);
    },
  };
}
