import { zoneOffset } from '#app/_ui/zone-offset.ts';

/** Ranges that depend on the current time, as they appear in the URL. */
export const presets = ['visit', 'night', 'day'] as const;
export type Preset = (typeof presets)[number];

const hour = 3_600_000;
const day = 24 * hour;

/** A range of time as ISO 8601; without `to`, it has no end. */
export interface TimeRange {
  from: string;
  to?: string;
}

/** What the ranges depend on. `lastVisit` is null if the reader is here for the first time. */
export interface PresetBasis {
  now: number;
  timeZone: string;
  lastVisit: Date | null;
}

/**
 * Returns the range of a preset: since the last visit, the last night from 18:00 to 08:00 in the reader's zone, or the
 * last 24 hours. Returns null for the last visit if there is none.
 */
export function rangeOf(preset: Preset, { now, timeZone, lastVisit }: PresetBasis): TimeRange | null {
  switch (preset) {
    case 'visit':
      return lastVisit === null ? null : { from: lastVisit.toISOString() };
    case 'night':
      return lastNight(now, timeZone);
    case 'day':
      return { from: new Date(now - day).toISOString() };
  }
}

function lastNight(now: number, timeZone: string): TimeRange {
  const offsetAt = zoneOffset(timeZone);
  const midnight = Math.floor((now + offsetAt(now)) / day) * day;
  // The offset may differ between `now` and `local` because of a clock change, so the offset at `local` is used.
  const instant = (local: number) => new Date(local - offsetAt(local - offsetAt(now))).toISOString();
  return { from: instant(midnight - 6 * hour), to: instant(midnight + 8 * hour) };
}

/** Replaces the preset in a filter with its range. Removes a preset that has no range. */
export function withRange<F extends { since?: Preset; from?: string; to?: string }>(
  { since, ...filter }: F,
  basis: PresetBasis,
): Omit<F, 'since'> {
  const range = since === undefined ? null : rangeOf(since, basis);
  return range === null ? filter : { ...filter, ...range };
}
