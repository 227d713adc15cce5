import type { ExtensionHealth, HealthCause, HeartbeatVerdict } from '#server/domain/verdicts/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';

/** The history of a VM between two times. Times are ISO 8601, on the portal's clock. */
export interface Timeline {
  from: string;
  to: string;
  /** The portal's clock at the reading, where the known history ends. */
  readAt: string;
  configuration: Publication[];
  acts: PersonAct[];
  /** By name; including extensions that were removed. */
  lanes: TimelineLane[];
  /** Number of events that were merged with a neighbour, because they are too close to show. */
  merged: number;
  /** If there was too much to read: health before this time is left out. */
  healthSince: string | null;
}

interface Moment {
  at: string;
  /** The last of the merged events; `at` if there is only one. */
  until: string;
  /** The number of events it represents. */
  count: number;
}

/** Published goal states; `incarnation`, `by` and `cause` are those of the last one. */
export interface Publication extends Moment {
  incarnation: number;
  by: string;
  cause: { action: string; extension?: string; incarnation?: number };
}

/** A person's act on an extension, marked at its declaration. */
export type DeclaredChange = 'added' | 'version' | 'enabled' | 'disabled' | 'settings' | 'secrets' | 'other';

/** Acts of one person; all but `count` belong to the last one. */
export interface PersonAct extends Moment {
  who: string;
  kind: 'user' | 'token' | 'bootstrap';
  action: string;
  target: string;
  declared: DeclaredChange | null;
}

export interface TimelineLane {
  extension: string;
  health: TimelineSpan<ExtensionHealth>[];
  heartbeat: TimelineSpan<HeartbeatVerdict>[];
}

/** The duration of a state. `state` is null if it was not recorded. */
export interface TimelineSpan<State extends string> {
  from: string;
  /** Null if it still lasts. */
  to: string | null;
  state: State | null;
  cause: HealthCause | null;
  waitsFor: string | null;
  /** The number of changes it represents; above 1 it shows the worst of them. */
  count: number;
}

/** A row of `health_transitions`, of one extension and kind. */
export interface HealthTransitionRow {
  at: Date;
  from: string | null;
  to: string | null;
  cause: HealthCause | null;
  waitsFor: string | null;
}

export interface LaneInput {
  /** The last one before the window, or null. */
  prior: HealthTransitionRow | null;
  /** Within the window, oldest first. */
  within: readonly HealthTransitionRow[];
  /** The current state, for one without a change in the window; null if it does not exist. */
  current: { state: string; cause: HealthCause | null; waitsFor: string | null } | null;
  window: { from: Date; to: Date };
  /** Nothing is known or existed before this. */
  since: Date;
}

/** Health is derived shortly after the facts; a shorter gap than this is that delay, not a hole. */
const derivedWithinMs = 60_000;

/** The spans of one lane, oldest first: recorded states, and `null` for a time without a record of the extension. */
export function stretchesOf<State extends string>(input: LaneInput): TimelineSpan<State>[] {
  const { prior, within, current, window, since } = input;
  const begin = new Date(Math.max(since.getTime(), window.from.getTime()));
  const changes: HealthTransitionRow[] = [...within];
  const [first] = within;
  if (prior !== null) changes.unshift({ ...prior, at: begin });
  else if (first !== undefined && (first.from !== null || first.at.getTime() - since.getTime() > derivedWithinMs)) {
    const at = first.from === null ? begin : window.from;
    changes.unshift({ at, from: null, to: first.from ?? '', cause: null, waitsFor: null });
  } else if (first === undefined && current !== null) {
    changes.unshift({ at: begin, from: null, to: current.state, cause: current.cause, waitsFor: current.waitsFor });
  }
  return changes.flatMap((change, index): TimelineSpan<State>[] => {
    if (change.to === null || change.at >= window.to) return [];
    const end = changes[index + 1]?.at ?? null;
    if (end !== null && end <= change.at) return [];
    return [
      {
        from: change.at.toISOString(),
        to: end?.toISOString() ?? null,
        state: change.to === '' ? null : (change.to as State),
        cause: change.cause,
        waitsFor: change.waitsFor,
        count: 1,
      },
    ];
  });
}

/**
 * Merges neighbours that are shorter than `slotMs` into one that shows their worst, so that a lane is bounded. A
 * current state is never merged, so that the past does not hide it.
 */
export function mergeShort<State extends ExtensionHealth | HeartbeatVerdict>(
  stretches: readonly TimelineSpan<State>[],
  slotMs: number,
  worstFirst: readonly State[],
): TimelineSpan<State>[] {
  const well = worstFirst.findIndex((state) => state === 'healthy' || state === 'ready');
  // A time without a record ranks between trouble and health.
  const rank = (state: State | null): number => (state === null ? well - 0.5 : worstFirst.indexOf(state));
  const joined: TimelineSpan<State>[] = [];
  for (const stretch of stretches) {
    const last = joined.at(-1);
    const fits =
      stretch.to !== null && last?.to === stretch.from && Date.parse(stretch.to) - Date.parse(last.from) < slotMs;
    if (!fits || last === undefined) {
      joined.push({ ...stretch });
      continue;
    }
    const worse = rank(stretch.state) < rank(last.state) ? stretch : last;
    const { state, cause, waitsFor } = worse;
    Object.assign(last, { to: stretch.to, state, cause, waitsFor, count: last.count + stretch.count });
  }
  return joined;
}

/** Merges events that are closer than `slotMs` and that `alike` accepts; the last one represents them. Oldest first. */
export function mergeEvents<Event extends Moment>(
  events: readonly Event[],
  slotMs: number,
  alike: (a: Event, b: Event) => boolean = () => true,
): Event[] {
  const joined: Event[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last !== undefined && Date.parse(event.until) - Date.parse(last.at) < slotMs && alike(last, event)) {
      joined[joined.length - 1] = { ...event, at: last.at, count: last.count + event.count };
    } else joined.push(event);
  }
  return joined;
}

type Details = Readonly<Record<string, unknown>>;

/** The most significant part of an `extension.set` in the activity. */
export function declaredBy(old: Details | null, now: Details): DeclaredChange {
  if (old === null) return 'added';
  if (old.version !== now.version) return 'version';
  if (old.state !== now.state) return now.state === 'disabled' ? 'disabled' : 'enabled';
  if (canonicalJson(old.publicSettings ?? {}) !== canonicalJson(now.publicSettings ?? {})) return 'settings';
  // The activity stores the id of the encrypted copy of protected settings.
  const sealed = [old, now].map((side) => canonicalJson(side.protectedSettings ?? null));
  return sealed[0] === sealed[1] ? 'other' : 'secrets';
}
