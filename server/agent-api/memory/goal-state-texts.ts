import { LRUCache } from 'lru-cache';
import type { FetchedGoalState } from '#server/domain/goal-states/index.ts';

const maxBytes = 64 * 1024 * 1024;

/** Caches delivered goal states by VM, for agents that request the same goal state again. */
export class GoalStateTexts {
  readonly #texts = new LRUCache<string, FetchedGoalState>({
    maxSize: maxBytes,
    sizeCalculation: ({ text }) => text.length + 200,
  });

  /** Returns the VM's cached goal state if it has this ETag; null otherwise. */
  get(vmId: string, etag: string | null): FetchedGoalState | null {
    const found = this.#texts.get(vmId);
    return found !== undefined && found.etag === etag ? found : null;
  }

  keep(vmId: string, goalState: FetchedGoalState): void {
    this.#texts.set(vmId, goalState);
  }
}
