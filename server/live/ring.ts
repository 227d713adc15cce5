import { randomBytes } from 'node:crypto';
import type { ChangeTopic } from '#server/domain/changes/index.ts';

/** A change, without its data: pages read the data with their user's permissions. */
export interface Change {
  topic: ChangeTopic;
  key: string;
}

/** `reset` means that changes may have been missed, so everything must be reloaded. */
export type Entry = Change | 'reset';

/**
 * The newest changes in the order in which they became visible. Positions are valid only in this process. The table's
 * ids cannot be positions: they are assigned before the commit, so a lower id can appear after a higher one and would
 * be missed.
 */
export interface Ring {
  /** Returns the position after the newest entry. */
  end(): string;
  push(entry: Entry): void;
  /** Returns the entries since a position; null if some were dropped, or if the position is from another process. */
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
        // Drops half of the entries at a time, so that not every push moves the whole array.
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
