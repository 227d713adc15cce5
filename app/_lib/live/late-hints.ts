import type { Query } from '@tanstack/react-query';
import { concerns, type LiveChange } from './topics.ts';

/** Assumed maximum time in milliseconds between reading the data of a page and showing the page. */
const onTheWayMs = 10_000;

/**
 * Keeps the hints of the last ten seconds for new queries: a page's data is read before the page is shown, and a hint
 * that arrives in between finds no query to invalidate.
 */
export class LateHints {
  private hints: { at: number; changes: readonly LiveChange[] | 'reset' }[] = [];

  heard(changes: readonly LiveChange[] | 'reset', now: number): void {
    this.hints = [...this.hints.filter(({ at }) => now - at < onTheWayMs), { at: now, changes }];
  }

  /** Whether any object that this query shows has changed recently. */
  concern(queryKey: Query['queryKey'], now: number): boolean {
    return this.hints.some(
      ({ at, changes }) => now - at < onTheWayMs && (changes === 'reset' || concerns(queryKey, changes)),
    );
  }
}
