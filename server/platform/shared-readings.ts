import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

interface Desk {
  running: Promise<unknown> | null;
  /** The next reading, for callers that arrive while a reading is running or while a rest follows. */
  next: Promise<unknown> | null;
  restUntil: number;
  /** Ends the rest early. */
  hurry: AbortController;
}

/**
 * After a reading, there is a rest of this multiple of its duration, so that readings use only a small part of a core,
 * however many callers there are. The rest has a limit, because a waiting caller occupies one of its session's few
 * slots.
 */
const restPerReading = 19;
const longestRestMs = 250;
/** A cached result is valid for this multiple of the time that it took to read. */
const keptPerReading = 50;

/** Coalesces concurrent calls to expensive queries, by key. */
export class SharedReadings {
  readonly #desks = new Map<string, Desk>();
  readonly #kept = new Map<string, { result: unknown; until: number }>();

  /** Number of keys with a reading that is running, waiting or was just finished. */
  get size(): number {
    return this.#desks.size;
  }

  /**
   * Runs one reading for all concurrent callers. Callers that arrive during a reading get the next one, so that no
   * result is older than its call. Only one reading per key runs at a time. An expensive reading is followed by a rest,
   * which an urgent call ends.
   */
  share<Result>(key: string, read: () => Promise<Result>, { isUrgent = true } = {}): Promise<Result> {
    const desk = this.#desks.get(key) ?? this.#open(key);
    if (isUrgent) desk.hurry.abort();
    desk.next ??= startInTurn(desk, read);
    return desk.next as Promise<Result>;
  }

  /** Reads slowly changing data. The result is cached for a while, longer if it took long to read. */
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

  /** Adds a key and removes unused ones, because keys depend on requests. */
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
  // The parts of a page call in the same turn of the event loop, so this turn is awaited: all of them get the same
  // reading.
  await turn();
  await desk.running?.catch(() => {});
  const rest = desk.restUntil - performance.now();
  if (rest > 0) await delay(rest, undefined, { signal: desk.hurry.signal }).catch(() => {});
  const began = performance.now();
  const running = read().finally(() => {
    const ended = performance.now();
    desk.running = null;
    // A slow reading uses at most half of a core, however many callers there are.
    desk.restUntil = ended + Math.max(ended - began, Math.min(longestRestMs, (ended - began) * restPerReading));
  });
  Object.assign(desk, { running, next: null, hurry: new AbortController() });
  return running;
}
