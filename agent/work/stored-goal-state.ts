import type { AgentLayout } from '../folder/layout.ts';
import { readJson } from '../folder/write-file.ts';
import { type NewestByEpoch, newestByEpoch, withNewest } from '../goal/newest.ts';
import { readGoalState } from '../goal/read-goal-state.ts';

/** A goal state on disk, with the highest incarnation that was received in each epoch. */
export interface StoredGoalState {
  text: string;
  etag: string;
  newest: NewestByEpoch;
}

/** Returns the goal state that the agent last applied; null if there is none. */
export function readStoredGoalState(layout: AgentLayout): StoredGoalState | null {
  const stored = readJson(layout.goalState);
  if (typeof stored !== 'object' || stored === null || !('text' in stored) || !('etag' in stored)) return null;
  const { text, etag } = { text: String(stored.text), etag: String(stored.etag) };
  const newest = newestByEpoch.safeParse('newest' in stored ? stored.newest : null);
  return { text, etag, newest: newest.success ? newest.data : newestIn(text, etag) };
}

/**
 * Reads the incarnation from the stored text, for files written by agents that did not store the incarnation
 * separately.
 */
function newestIn(text: string, etag: string): NewestByEpoch {
  try {
    return withNewest({}, etag, readGoalState(text).incarnation);
  } catch {
    return {};
  }
}
