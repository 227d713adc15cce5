import { type DrawnVerdict, drawnVerdict, type HeartbeatStretch, worstVerdicts } from './axis-events.ts';

/** Readings that a card shows. */
export const shownReadings = 30;

/**
 * What the last readings of a heartbeat said, oldest first, up to `last`, which was the newest: of each the worst
 * verdict that held until the next; null where none is recorded.
 */
export function readingsOf(
  stretches: readonly HeartbeatStretch[],
  last: number,
  periodMs: number,
  count: number = shownReadings,
): (DrawnVerdict | null)[] {
  return Array.from({ length: count }, (_, index) => {
    const until = last - (count - 1 - index) * periodMs;
    const held = stretches
      .filter(({ from, to }) => Date.parse(from) <= until && (to === null || Date.parse(to) > until - periodMs))
      .map(({ state }) => drawnVerdict(state));
    return worstVerdicts.find((drawn) => held.includes(drawn)) ?? null;
  });
}
