import { type DrawnVerdict, drawnVerdict, type HeartbeatStretch, worstVerdicts } from './axis-events.ts';

/** Number of readings on a card. */
export const shownReadings = 30;

/**
 * Returns the last `count` heartbeat readings up to the time `last`, oldest first. Each reading is the worst verdict in
 * its period, or null if no verdict is recorded.
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
