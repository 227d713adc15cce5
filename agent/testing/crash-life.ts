import { AsyncLocalStorage } from 'node:async_hooks';
import { visitCrashPoints } from '../folder/crash-point.ts';

const visits = new AsyncLocalStorage<(point: string) => void>();

/**
 * Runs one life of an agent and calls `visit` at each of its crash points. Work that the life leaves behind keeps
 * calling the same `visit`, so an agent that was stopped at a point stays stopped while the next agent runs.
 */
export function liveWithCrashPoints<Result>(
  visit: (point: string) => void,
  life: () => Promise<Result>,
): Promise<Result> {
  visitCrashPoints((point) => visits.getStore()?.(point));
  return visits.run(visit, life);
}
