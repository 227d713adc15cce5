import type { Query } from '@tanstack/react-query';
import { concerns, type LiveChange } from './topics.ts';

/** For how long a page may be on its way from the portal to the screen. */
const onTheWayMs = 10_000;

/**
 * Hints of the last seconds, for queries that are new: what a page brings along was read before it was shown, and a
 * hint that came in between found nobody who waited for it.
 */
export class LateHints {
  private hints: { at: number; changes: readonly LiveChange[] | 'reset' }[] = [];

  heard(changes: readonly LiveChange[] | 'reset', now: number): void {
    this.hints = [...this.hints.filter(({ at }) => now - at < onTheWayMs), { at: now, changes }];
  }

  /** Whether something that this query shows changed lately. */
  concern(queryKey: Query['queryKey'], now: number): boolean {
    return this.hints.some(
      ({ at, changes }) => now - at < onTheWayMs && (changes === 'reset' || concerns(queryKey, changes)),
    );
  }
}
