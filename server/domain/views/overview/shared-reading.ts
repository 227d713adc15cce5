import type { Database } from '#db/client.ts';

interface Reading {
  running: Promise<unknown>;
  /** The one after it, for those who asked while it ran. */
  next: Promise<unknown> | null;
}

const readings = new WeakMap<Database, Map<string, Reading>>();

/**
 * Reads something dear once for all who ask at the same time. Who asks while a reading runs gets the one after it, so
 * that nobody gets what is older than the question; however many ask, one reading runs at a time.
 */
export function shareReading<Result>(db: Database, key: string, read: () => Promise<Result>): Promise<Result> {
  const own = readings.get(db) ?? new Map<string, Reading>();
  readings.set(db, own);
  const start = (): Promise<Result> => {
    const running = read().finally(() => {
      if (own.get(key)?.running === running && own.get(key)?.next === null) own.delete(key);
    });
    own.set(key, { running, next: null });
    return running;
  };
  const current = own.get(key);
  if (current === undefined) return start();
  current.next ??= current.running.then(start, start);
  return current.next as Promise<Result>;
}
