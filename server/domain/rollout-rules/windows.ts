import type { Freeze, Window } from './stored.ts';
import { dayAt, instantOf, zoneOf } from './zones.ts';

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const dayMs = 86_400_000;
const minuteMs = 60_000;

/** One occurrence of a window, on the local day on which it starts. */
export interface Occurrence {
  /** The local day, such as `2027-03-28`. */
  day: string;
  from: Date;
  to: Date;
  /** What a clock change does to it; `none`: it does not occur. */
  clocks: 'shorter' | 'longer' | 'none' | null;
}

/** A period in which steps may begin. */
export interface Period {
  from: Date;
  to: Date;
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Returns the length of a window in minutes on a day without a clock change. */
const lengthOf = ({ from, to }: Window): number => (minutesOf(to) - minutesOf(from) + 1_440) % 1_440;

/**
 * Returns the occurrences of a window that end after `from` and start before `until`, including those that a clock
 * change leaves out (RO-35). `from` is the first instant with that local time, `to` the last one.
 */
export function occurrences(window: Window, from: Date, until: Date): Occurrence[] {
  const zone = zoneOf(window.timeZone);
  const { year, month, day } = dayAt(zone, from.getTime());
  const found: Occurrence[] = [];
  for (let local = Date.UTC(year, month - 1, day) - dayMs; ; local += dayMs) {
    const start = instantOf(zone, local + minutesOf(window.from) * minuteMs, 'first');
    if (start >= until.getTime()) return found;
    const weekday = days[new Date(local).getUTCDay()];
    if (weekday === undefined || !window.days.includes(weekday)) continue;
    const minutes = lengthOf(window);
    const end = instantOf(zone, local + (minutesOf(window.from) + minutes) * minuteMs, 'last');
    if (Math.max(start, end) <= from.getTime()) continue;
    const [actual, usual] = [end - start, minutes * minuteMs];
    const clocks = actual <= 0 ? 'none' : actual < usual ? 'shorter' : actual > usual ? 'longer' : null;
    found.push({ day: new Date(local).toISOString().slice(0, 10), from: new Date(start), to: new Date(end), clocks });
  }
}

/** Returns the periods of several windows in order; periods that meet are one. */
export function periodsOf(windows: readonly Window[], from: Date, until: Date): Period[] {
  const all = windows
    .flatMap((window) => occurrences(window, from, until).filter(({ clocks }) => clocks !== 'none'))
    .sort((a, b) => a.from.getTime() - b.from.getTime());
  const periods: Period[] = [];
  for (const { from: start, to } of all) {
    const last = periods.at(-1);
    if (last !== undefined && start <= last.to) last.to = new Date(Math.max(to.getTime(), last.to.getTime()));
    else periods.push({ from: start, to });
  }
  return periods;
}

/** Every weekday occurs within this time, even if a clock change skips one occurrence. */
const horizonMs = 22 * dayMs;

/** When steps may begin: now until `until`, or not before `at`. Null means no end, and never. */
export type Opening = { isOpen: true; until: Date | null } | { isOpen: false; at: Date | null };

/** Returns when a step that needs `seconds` may begin, in the given windows. Without windows, it always may. */
export function openingAt(windows: readonly Window[], seconds: number, now: Date): Opening {
  if (windows.length === 0) return { isOpen: true, until: null };
  const horizon = new Date(now.getTime() + horizonMs);
  const fitting = periodsOf(windows, now, horizon)
    .map(({ from, to }) => ({ from, until: new Date(to.getTime() - seconds * 1_000) }))
    .filter(({ from, until }) => until >= from && until >= now);
  const [first] = fitting;
  if (first === undefined) return { isOpen: false, at: null };
  return first.from <= now ? { isOpen: true, until: first.until } : { isOpen: false, at: first.from };
}

/** Whether a step that needs `seconds` fits into one of the windows on a day without a clock change. */
export function fitsWindows(windows: readonly Window[], seconds: number): boolean {
  if (windows.length === 0) return true;
  // A whole week without a clock change, in UTC.
  const utc = windows.map((window) => ({ ...window, timeZone: 'UTC' }));
  const periods = periodsOf(utc, new Date('2024-01-01T00:00:00Z'), new Date('2024-01-22T00:00:00Z'));
  return periods.some(({ from, to }) => to.getTime() - from.getTime() >= seconds * 1_000);
}

/**
 * Returns the freeze in which the rollout may begin no step; null if there is none, or the rollout is exempt (RO-36).
 */
export function freezeAt(
  freezes: readonly Freeze[],
  { id, kind }: { id: string; kind: string },
  now: Date,
): { reason: string; until: Date } | null {
  const binding = kind === 'revert' ? [] : freezes.filter(({ exempt }) => !exempt.includes(id));
  let until = now;
  let reason: string | null = null;
  for (const freeze of binding.toSorted((a, b) => Date.parse(a.from) - Date.parse(b.from))) {
    if (new Date(freeze.from) > until || new Date(freeze.to) <= until) continue;
    reason ??= freeze.reason;
    until = new Date(freeze.to);
  }
  return reason === null ? null : { reason, until };
}

/** Returns when the next freeze begins that binds the rollout; null if none is planned. */
export function nextFreeze(
  freezes: readonly Freeze[],
  { id, kind }: { id: string; kind: string },
  now: Date,
): Date | null {
  if (kind === 'revert') return null;
  const starts = freezes.filter(({ exempt }) => !exempt.includes(id)).map(({ from }) => new Date(from));
  return starts.filter((from) => from > now).sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
}
