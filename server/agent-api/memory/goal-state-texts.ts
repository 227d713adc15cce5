import { LRUCache } from 'lru-cache';
import type { FetchedGoalState } from '#server/domain/goal-states/index.ts';

const mostBytes = 64 * 1024 * 1024;

/** Goal states that went out, by VM, as long as there is room: an agent that asks for all of it again gets it from here. */
export class GoalStateTexts {
  readonly #texts = new LRUCache<string, FetchedGoalState>({
    maxSize: mostBytes,
    sizeCalculation: ({ text }) => text.length + 200,
  });

  /** The VM's goal state, where it is the one with this ETag. */
  get(vmId: string, etag: string | null): FetchedGoalState | null {
    const found = this.#texts.get(vmId);
    return found !== undefined && found.etag === etag ? found : null;
  }

  keep(vmId: string, goalState: FetchedGoalState): void {
    this.#texts.set(vmId, goalState);
  }
}
