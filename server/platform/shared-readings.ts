import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

interface Desk {
  running: Promise<unknown> | null;
  /** The reading that has not started yet. All callers that arrive before it starts share it. */
  next: Promise<unknown> | null;
  restUntil: number;
  /** Ends the pause between two readings early. */
  hurry: AbortController;
}

/**
 * After each reading, its key pauses for this multiple of the reading's duration, so that readings use only a small
 * part of a core, unless calls are urgent. The pause is at most `longestRestMs` or, if longer, the reading's duration.
 * This limit exists because a waiting caller occupies one of its session's few concurrent reads.
 */
const restPerReading = 19;
const longestRestMs = 250;
/** A cached result is valid for this multiple of its reading's duration. */
const keptPerReading = 50;

/** Coalesces concurrent calls to expensive queries, by key. */
export class SharedReadings {
  readonly #desks = new Map<string, Desk>();
  readonly #kept = new Map<string, { result: unknown; until: number }>();

  /** Number of keys in memory. Unused keys are removed when a key is added. */
  get size(): number {
    return this.#desks.size;
  }

  /**
   * Runs one reading for all concurrent callers. Callers that arrive during a reading get the next reading, so that no
   * result is older than its call. Only one reading per key runs at a time. Each reading is followed by a pause, which
   * an urgent call ends.
   */
  share<Result>(key: string, read: () => Promise<Result>, { isUrgent = true } = {}): Promise<Result> {
    const desk = this.#desks.get(key) ?? this.#open(key);
    if (isUrgent) desk.hurry.abort();
    desk.next ??= startInTurn(desk, read);
    return desk.next as Promise<Result>;
  }

  /** Reads slowly changing data. The longer the reading takes, the longer its result is cached. */
  async keep<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && performance.now() < kept.until) return kept.result as Result;
    return this.share(key, async () => {
      const began = performance.now();
      const result = await read();
      const ended = performance.now();
      this.#kept.set(key, { result, until: ended + (ended - began) * keptPerReading });
      return result;
    });
  }

  /**
   * Adds a key and removes unused keys. Keys come from requests, so without the removal, their number could grow
   * without limit.
   */
  #open(key: string): Desk {
    const now = performance.now();
    for (const [other, { running, next, restUntil }] of this.#desks) {
      if (running === null && next === null && restUntil <= now) this.#desks.delete(other);
    }
    const desk = { running: null, next: null, restUntil: 0, hurry: new AbortController() };
    this.#desks.set(key, desk);
    return desk;
  }
}

async function startInTurn<Result>(desk: Desk, read: () => Promise<Result>): Promise<Result> {
  // Waits for the end of this turn of the event loop. The parts of a page make their calls in the same turn, so they
  // share a reading.
  await turn();
  await desk.running?.catch(() => {});
  const rest = desk.restUntil - performance.now();
  if (rest > 0) await delay(rest, undefined, { signal: desk.hurry.signal }).catch(() => {});
  const began = performance.now();
  const running = read().finally(() => {
    const ended = performance.now();
    desk.running = null;
    // Without urgent calls, even slow readings use at most half of a core.
    desk.restUntil = ended + Math.max(ended - began, Math.min(longestRestMs, (ended - began) * restPerReading));
  });
  Object.assign(desk, { running, next: null, hurry: new AbortController() });
  return running;
}
