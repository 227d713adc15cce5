/* Time zones by their IANA names, with the rules that the runtime has. */

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });

/** Whether the text is the name of a time zone. Offsets such as `+01:00` are not: they ignore clock changes. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** A day of the calendar. `month` is from 1 to 12. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

export interface Zone {
  /** Milliseconds by which local time is ahead of UTC at an instant. */
  offset(instant: number): number;
}

/** Returns a time zone; throws for a name that is not of one. */
export function zoneOf(timeZone: string): Zone {
  const format = formatOf(timeZone);
  return {
    offset(instant) {
      const parts: Record<string, number> = {};
      for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000;
    },
  };
}

const dayMs = 86_400_000;

/**
 * Returns the instant of a local time, as UTC milliseconds of that local time (`local`). If clocks are set back and the
 * time occurs twice, `pick` decides; if clocks are set forward and it does not occur, the instant of the change.
 */
export function instantOf(zone: Zone, local: number, pick: 'first' | 'last'): number {
  const offsets = [zone.offset(local - dayMs), zone.offset(local + dayMs)];
  const instants = [...new Set(offsets)].map((offset) => local - offset).filter((at) => at + zone.offset(at) === local);
  if (instants.length > 0) return pick === 'first' ? Math.min(...instants) : Math.max(...instants);
  const [before = 0, after = 0] = offsets;
  return changeBetween(zone, local - Math.max(before, after), local - Math.min(before, after));
}

/** Returns the first instant after `low` with the offset of `high`. */
function changeBetween(zone: Zone, low: number, high: number): number {
  const after = zone.offset(high);
  let [from, to] = [low, high];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (zone.offset(middle) === after) to = middle;
    else from = middle;
  }
  return to;
}

/** Returns the local day at an instant. */
export function dayAt(zone: Zone, instant: number): CalendarDay {
  const local = new Date(instant + zone.offset(instant));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** A clock change: clocks go forward by `minutes`, or back if it is negative. */
export interface ClockChange {
  at: number;
  minutes: number;
}

/** Returns the clock changes of a time zone after `from` and up to `until`, one a day at most. */
export function clockChanges(zone: Zone, from: number, until: number): ClockChange[] {
  const found: ClockChange[] = [];
  for (let start = from; start < until; start += dayMs) {
    const end = Math.min(start + dayMs, until);
    const difference = zone.offset(end) - zone.offset(start);
    if (difference !== 0) found.push({ at: changeBetween(zone, start, end), minutes: difference / 60_000 });
  }
  return found;
}
