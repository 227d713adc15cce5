import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
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

/** At how many desks somebody reads, waits, or has just read. */
export const desksOf = (db: Database): number => desks.get(db)?.size ?? 0;

/**
 * However many screens ask, a reading takes a small part of a core. The rest is short all the same: who waits for its
 * end holds one of the few places that their session has.
 */
const restPerReading = 19;
const longestRestMs = 250;

/**
 * Reads something dear once for all who ask at the same time. Who asks while a reading runs gets the one after it, so
 * that nobody gets what is older than the question; however many ask, one reading runs at a time, and a dear one is
 * followed by a rest, which ends when a page asks.
 */
export function shareReading<Result>(
  { db, isPage = true }: Asker,
  key: string,
  read: () => Promise<Result>,
): Promise<Result> {
  const own = desks.get(db) ?? new Map<string, Desk>();
  desks.set(db, own);
  const desk = own.get(key) ?? openDesk(own, key);
  if (isPage) desk.hurry.abort();
  desk.next ??= startInTurn(desk, read);
  return desk.next as Promise<Result>;
}

/** A desk for what nobody asks at present. Keys come from readers, so those that nobody waits at any more are cleared. */
function openDesk(desks: Map<string, Desk>, key: string): Desk {
  const now = performance.now();
  for (const [other, { running, next, restUntil }] of desks) {
    if (running === null && next === null && restUntil <= now) desks.delete(other);
  }
  const desk = { running: null, next: null, restUntil: 0, hurry: new AbortController() };
  desks.set(key, desk);
  return desk;
}

async function startInTurn<Result>(desk: Desk, read: () => Promise<Result>): Promise<Result> {
  // Parts of one page ask one after the other in the same turn, and are answered by the same reading.
  await turn();
  await desk.running?.catch(() => {});
  const rest = desk.restUntil - performance.now();
  if (rest > 0) await delay(rest, undefined, { signal: desk.hurry.signal }).catch(() => {});
  const began = performance.now();
  const running = read().finally(() => {
    const ended = performance.now();
    desk.running = null;
    // What takes long has half of a core at most, however many ask.
    desk.restUntil = ended + Math.max(ended - began, Math.min(longestRestMs, (ended - began) * restPerReading));
  });
  Object.assign(desk, { running, next: null, hurry: new AbortController() });
  return running;
}

/** What took a millisecond to read serves for this many. */
const worth = 50;

const known = new WeakMap<Database, Map<string, { result: unknown; until: number }>>();

/** Reads what changes slowly: an answer serves for a while, longer the dearer it was. */
export async function keepReading<Result>(db: Database, key: string, read: () => Promise<Result>): Promise<Result> {
  const own = known.get(db) ?? new Map<string, { result: unknown; until: number }>();
  known.set(db, own);
  const kept = own.get(key);
  if (kept !== undefined && performance.now() < kept.until) return kept.result as Result;
  return shareReading({ db }, key, async () => {
    const began = performance.now();
    const result = await read();
    const ended = performance.now();
    own.set(key, { result, until: ended + (ended - began) * worth });
    return result;
  });
}
