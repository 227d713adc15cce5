import { randomBytes } from 'node:crypto';
import type { ChangeTopic } from '#server/domain/changes/index.ts';

/** A thing that changed: which kind, which one. What it is now is read by whoever may. */
export interface Change {
  topic: ChangeTopic;
  key: string;
}

/** `reset`: something may have been missed; read everything again. */
export type Entry = Change | 'reset';

/**
 * The newest changes in the order in which they became visible. Positions are this process's own: the ids of the
 * table are given out before the commit, so a smaller one can show up after a larger one and would be missed.
 */
export interface Ring {
  /** Name of the position after the newest entry. */
  end(): string;
  push(entry: Entry): void;
  /** Entries since a position; null when they are gone, or the position is another process's. */
  since(position: string): Entry[] | null;
}

export function createRing(size: number): Ring {
  const run = randomBytes(6).toString('base64url');
  const entries: Entry[] = [];
  let first = 0;
  return {
    end: () => `${run}.${first + entries.length}`,
    push(entry) {
      entries.push(entry);
      if (entries.length > size) {
        // Half at once, so that a push is not a move of the whole array.
        const dropped = Math.ceil(size / 2);
        entries.splice(0, dropped);
        first += dropped;
      }
    },
    since(position) {
      const [ofRun, at] = position.split('.');
      const index = Number(at) - first;
      if (ofRun !== run || !Number.isSafeInteger(index) || index < 0 || index > entries.length) return null;
      return entries.slice(index);
    },
  };
}
