import type { Window } from '#server/domain/rollout-rules/stored.ts';
import { type Occurrence, occurrences } from '#server/domain/rollout-rules/windows.ts';
import { clockChanges, dayAt, instantOf, isTimeZone, zoneOf } from '#server/domain/rollout-rules/zones.ts';
import type { PlacedWindow } from './windows.ts';

const dayMs = 86_400_000;
/** Number of days that the picture shows. */
const shownDays = 14;

/** When steps of some rings may begin. */
export interface CalendarRow {
  /** Names of the rings. */
  rings: string[];
  /** Null for rings without windows, whose steps may always begin. */
  windows: { window: Window; occurrences: Occurrence[] }[] | null;
}

/** The next days in the reader's time zone, with the windows of each ring. */
export interface Calendar {
  from: number;
  until: number;
  /** When each day begins. */
  days: number[];
  rows: CalendarRow[];
  /** Clock changes in the time zones of windows and of the reader. */
  clocks: { timeZone: string; at: number; minutes: number }[];
}

/** Returns the calendar of the windows that are complete; windows that are being typed are omitted. */
export function calendarOf(
  rings: readonly string[],
  placed: readonly PlacedWindow[],
  { now, timeZone }: { now: number; timeZone: string },
): Calendar {
  const days = daysFrom(now, timeZone);
  const from = days[0] ?? now;
  const until = days.at(-1) ?? now;
  const complete = placed.flatMap(({ ring, window }) => (isComplete(window) ? [{ ring, window }] : []));
  const shown = (window: Window) => ({
    window,
    occurrences: occurrences(window, new Date(Math.max(from, now)), new Date(until)),
  });
  const of = (ring: number | null) => complete.filter((one) => one.ring === ring).map(({ window }) => shown(window));
  const own = rings.map((name, index) => ({ name, windows: of(index) }));
  const others = own.filter(({ windows }) => windows.length === 0).map(({ name }) => name);
  const shared = of(null);
  const rows: CalendarRow[] = [
    ...(others.length === 0 ? [] : [{ rings: others, windows: shared.length === 0 ? null : shared }]),
    ...own.flatMap(({ name, windows }) => (windows.length === 0 ? [] : [{ rings: [name], windows }])),
  ];
  const zones = [...new Set([...complete.map(({ window }) => window.timeZone), timeZone])];
  const clocks = zones.flatMap((zone) =>
    clockChanges(zoneOf(zone), from, until).map((change) => ({ timeZone: zone, ...change })),
  );
  return { from, until, days: days.slice(0, -1), rows, clocks };
}

/** Returns when the next days begin, and when the last one ends. */
function daysFrom(now: number, timeZone: string): number[] {
  const zone = zoneOf(timeZone);
  const { year, month, day } = dayAt(zone, now);
  const first = Date.UTC(year, month - 1, day);
  return Array.from({ length: shownDays + 1 }, (_, index) => instantOf(zone, first + index * dayMs, 'first'));
}

const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

function isComplete(window: PlacedWindow['window']): window is Window {
  const { days, from, to, timeZone } = window;
  return days.length > 0 && isTime(from) && isTime(to) && from !== to && isTimeZone(timeZone);
}
