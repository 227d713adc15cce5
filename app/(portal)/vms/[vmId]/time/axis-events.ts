import { statusOfHealth, statusOfVerdict } from '#app/_lib/health.ts';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { statusOfState } from '#app/(portal)/executions/execution-data.ts';
import { statusOfOutcome } from '#app/(portal)/models/[model]/units/unit-data.ts';
import { heartbeatVerdicts } from '#server/domain/verdicts/words.ts';
import type { Timeline } from '../vm-data.ts';
import { countAbove, type Lanes, laneCount, lanesAbove } from './measures.ts';

type Lane = Timeline['lanes'][number];
export type HealthStretch = Lane['health'][number];
export type HeartbeatStretch = Lane['heartbeat'][number];
type Publication = Timeline['configuration'][number];
type PersonAct = Timeline['acts'][number];
type Execution = Timeline['executions'][number];
type Hook = Timeline['hooks'][number];

/** How a period of health is drawn; `unrecorded` if no health was stored. */
export type Drawn = StatusName | 'stale' | 'unrecorded';

interface Base {
  /** Stays the same while the axis moves. */
  id: string;
  /** Milliseconds since 1970. */
  from: number;
  /** Null if it has not ended. */
  to: number | null;
  count: number;
}

export type AxisEvent = Base &
  (
    | { kind: 'configuration'; of: Publication }
    | { kind: 'act'; of: PersonAct }
    | { kind: 'execution'; drawn: StatusName; of: Execution }
    | { kind: 'hook'; drawn: StatusName; of: Hook }
    | { kind: 'health'; extension: string; drawn: Drawn; of: HealthStretch }
    | { kind: 'heartbeat'; extension: string; drawn: DrawnVerdict; of: HeartbeatStretch }
  );

/** An event that can lead to a page. */
export type LinkedEvent = Extract<AxisEvent, { kind: 'configuration' | 'execution' | 'hook' }>;

/** Returns the index of an event's lane among the shown lanes. */
export const laneOf = (event: AxisEvent, lanes: Lanes): number => {
  if (event.kind === 'health') return countAbove(lanes) + lanes.names.indexOf(event.extension);
  return event.kind === 'heartbeat' ? laneCountOf(lanes) - 1 : lanesAbove.indexOf(event.kind);
};

const laneCountOf = ({ names, hasHooks }: Lanes): number => laneCount(names.length, hasHooks);

/** Returns whether an event is drawn as a bar that spans its duration. */
export const isStretch = ({ kind }: AxisEvent): boolean =>
  kind === 'health' || kind === 'heartbeat' || kind === 'execution' || kind === 'hook';

export function drawnOf({ state, cause }: Pick<HealthStretch, 'state' | 'cause'>): Drawn {
  if (state === null) return 'unrecorded';
  if (state === 'progressing' && cause === 'waiting') return 'waiting';
  return state === 'degraded' && cause === 'stale' ? 'stale' : statusOfHealth[state];
}

/** How a heartbeat's verdict is drawn. */
export type DrawnVerdict = (typeof statusOfVerdict)[keyof typeof statusOfVerdict];

export const drawnVerdict = (state: HeartbeatStretch['state']): DrawnVerdict | null =>
  state === null || state === 'none' ? null : statusOfVerdict[state];

const ms = (time: string): number => Date.parse(time);

/**
 * Returns the events between two times, ordered by time, then by lane. Omits heartbeats that were ready or not
 * recorded.
 */
export function eventsOf(timeline: Timeline, lanes: Lanes, from: number, to: number): AxisEvent[] {
  const events: AxisEvent[] = [
    ...timeline.configuration.map(
      (of): AxisEvent => ({ kind: 'configuration', id: `c${of.incarnation}`, ...momentOf(of), of }),
    ),
    ...timeline.acts.map((of): AxisEvent => ({ kind: 'act', id: `a${of.until}${of.action}`, ...momentOf(of), of })),
    ...timeline.executions.map(
      (of): AxisEvent => ({
        kind: 'execution',
        id: `e${of.executionId} ${of.from}`,
        drawn: statusOfState[of.state],
        ...stretchOf(of),
        of,
      }),
    ),
    ...(lanes.hasHooks ? timeline.hooks : []).map(
      (of): AxisEvent => ({
        kind: 'hook',
        id: `r${of.run} ${of.from}`,
        drawn: statusOfOutcome[of.outcome],
        ...stretchOf(of),
        of,
      }),
    ),
  ];
  for (const { extension, health, heartbeat } of timeline.lanes) {
    if (!lanes.names.includes(extension)) continue;
    for (const of of health) {
      events.push({
        kind: 'health',
        id: `h${extension} ${of.to}`,
        extension,
        drawn: drawnOf(of),
        ...stretchOf(of),
        of,
      });
    }
    for (const of of heartbeat) {
      const drawn = drawnVerdict(of.state);
      if (drawn === null || drawn === 'healthy') continue;
      events.push({ kind: 'heartbeat', id: `b${extension} ${of.to}`, extension, drawn, ...stretchOf(of), of });
    }
  }
  return events
    .filter((event) => event.from < to && (event.to ?? to) > from)
    .sort((a, b) => a.from - b.from || laneOf(a, lanes) - laneOf(b, lanes));
}

const momentOf = ({ at, until, count }: Publication | PersonAct) => ({ from: ms(at), to: ms(until) + 1, count });
const stretchOf = ({ from, to, count }: HealthStretch | HeartbeatStretch | Execution | Hook) => ({
  from: ms(from),
  to: to === null ? null : ms(to),
  count,
});

export interface Tick {
  at: number;
  drawn: DrawnVerdict;
}

export const worstVerdicts: readonly DrawnVerdict[] = heartbeatVerdicts.flatMap(
  (verdict) => drawnVerdict(verdict) ?? [],
);

/**
 * Returns heartbeats as ticks. Each tick covers `stepMs` and shows the worst verdict in that time. Ticks are at
 * multiples of the step, so that they move with the axis and do not jump.
 */
export function ticksOf(lanes: readonly Pick<Lane, 'heartbeat'>[], from: number, now: number, stepMs: number): Tick[] {
  const stretches = lanes
    .flatMap(({ heartbeat }) => heartbeat)
    .flatMap((of) => {
      const drawn = drawnVerdict(of.state);
      return drawn === null ? [] : [{ ...stretchOf(of), drawn }];
    });
  const ticks: Tick[] = [];
  for (let at = Math.ceil(from / stepMs) * stepMs; at <= now; at += stepMs) {
    const held = stretches.filter((stretch) => stretch.from <= at && (stretch.to ?? now + 1) > at - stepMs);
    const drawn = worstVerdicts.find((verdict) => held.some((stretch) => stretch.drawn === verdict));
    if (drawn !== undefined) ticks.push({ at, drawn });
  }
  return ticks;
}

/**
 * Returns the event that a key leads to: the previous, next, first or last event, or the event nearest in time in a
 * lane above or below.
 */
export function nextEvent(
  events: readonly AxisEvent[],
  lanes: Lanes,
  current: AxisEvent,
  key: string,
): AxisEvent | undefined {
  const at = events.findIndex(({ id }) => id === current.id);
  if (key === 'ArrowRight') return events[at + 1];
  if (key === 'ArrowLeft') return events[at - 1];
  if (key === 'Home') return events[0];
  if (key === 'End') return events.at(-1);
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined;
  const step = key === 'ArrowUp' ? -1 : 1;
  const lane = laneOf(current, lanes);
  for (let other = lane + step; other >= 0 && other < laneCountOf(lanes); other += step) {
    const inLane = events.filter((event) => laneOf(event, lanes) === other);
    const nearest = inLane.sort((a, b) => Math.abs(a.from - current.from) - Math.abs(b.from - current.from))[0];
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** Returns the initials of a name, at most two. */
export function initialsOf(name: string): string {
  const letters = name.split(/\s+/).flatMap((word) => [...word].slice(0, 1));
  const shown = letters.length > 1 ? [letters[0], letters.at(-1)] : letters;
  return shown.join('').toUpperCase() || '?';
}
