import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '#db/client.ts';

/** Who asks. A page waits for nothing but the reading itself; what is shown already can wait for its turn. */
export interface Asker {
  db: Database;
  isPage?: boolean;
}

interface Desk {
  running: Promise<unknown> | null;
  /** The one after it, for those who asked while it ran or while the desk rests. */
  next: Promise<unknown> | null;
  restUntil: number;
  /** Ends the rest: a page asks. */
  hurry: AbortController;
}

const desks = new WeakMap<Database, Map<string, Desk>>();

/** A screen that is up is refreshed for a twentieth of a core at most, however many of them ask. */
const restPerReading = 19;
const longestRestMs = 5_000;

/**
 * Reads something dear once for all who ask at the same time. Who asks while a reading runs gets the one after it, so
 * that nobody gets what is older than the question; however many ask, one reading runs at a time, and a dear one is
 * followed by a rest, which ends when a page asks.
 */
export function shareReading<Result>({ db, isPage = true }: Asker, key: string, read: () => Promise<Result>) {
  const own = desks.get(db) ?? new Map<string, Desk>();
  desks.set(db, own);
  const desk = own.get(key) ?? { running: null, next: null, restUntil: 0, hurry: new AbortController() };
  own.set(key, desk);
  const start = (): Promise<Result> => {
    const began = performance.now();
    desk.next = null;
    desk.hurry = new AbortController();
    const running = read().finally(() => {
      const ended = performance.now();
      desk.running = null;
      desk.restUntil = ended + Math.min(longestRestMs, (ended - began) * restPerReading);
    });
    desk.running = running;
    return running;
  };
  const startInTurn = async (): Promise<Result> => {
    await desk.running?.catch(() => {});
    const rest = desk.restUntil - performance.now();
    if (rest > 0) await delay(rest, undefined, { signal: desk.hurry.signal }).catch(() => {});
    return start();
  };
  const rests = !isPage && performance.now() < desk.restUntil;
  if (desk.running === null && desk.next === null && !rests) return start();
  desk.next ??= startInTurn();
  if (isPage) desk.hurry.abort();
  return desk.next as Promise<Result>;
}
