import { randomBytes } from 'node:crypto';
import type { ChangeTopic } from '#server/domain/changes/index.ts';

/** What changed: topic and key. Screens read the data with their own permissions. */
export interface Change {
  topic: ChangeTopic;
  key: string;
}

/** `reset`: something may have been missed; read everything again. */
export type Entry = Change | 'reset';

/**
 * The newest changes in the order in which they became visible. Positions belong to this process: the ids of the table
 * are assigned before the commit, so a lower one can appear after a higher one and would be missed.
 */
export interface Ring {
  /** The position after the newest entry. */
  end(): string;
  push(entry: Entry): void;
  /** Entries since a position; null if they were dropped, or the position belongs to another process. */
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
        // Half of it, so that a push does not move the whole array.
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
