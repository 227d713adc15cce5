import { type DrawnVerdict, drawnVerdict, type HeartbeatStretch, worstVerdicts } from './axis-events.ts';

/** Readings on a card. */
export const shownReadings = 30;

/**
 * The last readings of a heartbeat, oldest first, up to `last`, the newest: of each the worst verdict until the next;
 * null where none is recorded.
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
