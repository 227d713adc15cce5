import type { RelationEvent } from './relation-data.ts';

/** A lane of the history: what happened to one unit, oldest first; or to all units, if there are too many lanes. */
export interface HistoryLane {
  /** Null for all units. */
  unit: string | null;
  events: readonly RelationEvent[];
}

/** More units share one lane. */
export const maxLanes = 12;

/** Divides a history, which is sorted newest first, into lanes, one for each unit in the order in which they joined. */
export function lanesOf(events: readonly RelationEvent[]): HistoryLane[] {
  const oldestFirst = events.toReversed();
  const byUnit = Map.groupBy(oldestFirst, ({ unit }) => unit);
  if (byUnit.size > maxLanes) return [{ unit: null, events: oldestFirst }];
  return [...byUnit].map(([unit, own]) => ({ unit, events: own }));
}

/** The clocks that the slider covers: from before the oldest loaded event to now. */
export function rangeOf(events: readonly RelationEvent[], clock: number): { from: number; to: number } {
  const oldest = events.at(-1)?.clock;
  return { from: oldest === undefined ? clock : Math.min(oldest, clock), to: clock };
}

/** Returns the place of a clock on the slider, from 0 to 1. */
export const placeOf = (clock: number, { from, to }: { from: number; to: number }): number =>
  to === from ? 1 : (clock - from) / (to - from);

/** A label below the slider: the time of an event. */
export interface TimeMark {
  clock: number;
  at: string;
  place: number;
}

/** Returns times for the axis, at least `distance` apart: the first event of each new day first, then of each hour. */
export function timeMarks(
  events: readonly RelationEvent[],
  range: { from: number; to: number },
  distance: number,
): TimeMark[] {
  const marks: TimeMark[] = [];
  for (const { clock, at } of events.toReversed()) {
    const place = placeOf(clock, range);
    const last = marks.at(-1);
    if (last !== undefined && (place - last.place < distance || at.slice(0, 13) === last.at.slice(0, 13))) continue;
    if (place > 1 - distance / 2 && marks.length > 0) continue;
    marks.push({ clock, at, place });
  }
  return marks;
}

/** Events closer together than this share of the slider are drawn as one. */
const closest = 0.008;

/** Leaves out events that would be drawn over one of the same kind, so that a long history stays fast and readable. */
export function drawnEvents(events: readonly RelationEvent[], range: { from: number; to: number }): RelationEvent[] {
  const last = new Map<RelationEvent['kind'], number>();
  return events.filter(({ clock, kind }) => {
    const place = placeOf(clock, range);
    if (place - (last.get(kind) ?? Number.NEGATIVE_INFINITY) < closest) return false;
    last.set(kind, place);
    return true;
  });
}
