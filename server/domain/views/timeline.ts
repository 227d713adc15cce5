import type { ExtensionHealth, HealthCause, HeartbeatVerdict } from '#server/domain/verdicts/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';

/** What happened to a VM between two moments. Times are ISO 8601, on the portal's clock. */
export interface Timeline {
  from: string;
  to: string;
  /** The portal's clock when it was read; what is known ends here. */
  readAt: string;
  configuration: Publication[];
  acts: PersonAct[];
  /** By name; also of extensions that went meanwhile. */
  lanes: TimelineLane[];
  /** How many events were joined with a neighbour, because they stand closer than the picture can show. */
  merged: number;
  /** Where there was too much to read: health before this moment is left out. */
  healthSince: string | null;
}

interface Moment {
  at: string;
  /** The last of those that were joined; `at` where there is one. */
  until: string;
  /** How many it stands for. */
  count: number;
}

/** Goal states that were published; `incarnation`, `by` and `cause` are the last one's. */
export interface Publication extends Moment {
  incarnation: number;
  by: string;
  cause: { action: string; extension?: string; incarnation?: number };
}

/** What somebody did to an extension, where it was declared anew. */
export type Declared = 'added' | 'version' | 'enabled' | 'disabled' | 'settings' | 'secrets' | 'other';

/** Acts of one person; all but `count` are the last one's. */
export interface PersonAct extends Moment {
  who: string;
  kind: 'user' | 'token' | 'bootstrap';
  action: string;
  target: string;
  declared: Declared | null;
}

export interface TimelineLane {
  extension: string;
  health: Stretch<ExtensionHealth>[];
  heartbeat: Stretch<HeartbeatVerdict>[];
}

/** How long something was so. `state` is null where nobody recorded it. */
export interface Stretch<State extends string> {
  from: string;
  /** Null where it still is so. */
  to: string | null;
  state: State | null;
  cause: HealthCause | null;
  waitsFor: string | null;
  /** How many changes it stands for; above 1 the worst of them is shown. */
  count: number;
}

/** A row of `health_transitions`, of one extension and kind. */
export interface Transition {
  at: Date;
  from: string | null;
  to: string | null;
  cause: HealthCause | null;
  waitsFor: string | null;
}

export interface LaneInput {
  /** The last one before the window, or null. */
  prior: Transition | null;
  /** Within the window, oldest first. */
  within: readonly Transition[];
  /** How it is now, for one that did not change within the window; null where it is not there. */
  current: { state: string; cause: HealthCause | null; waitsFor: string | null } | null;
  window: { from: Date; to: Date };
  /** Before this nothing is known, and nothing was there. */
  since: Date;
}

/** Health is derived a moment after the facts; a shorter gap than this is that moment, not a hole. */
const derivedWithinMs = 60_000;

/**
 * What one lane shows, oldest first: what was recorded, and `null` where the extension was there and nobody recorded
 * how it was.
 */
export function stretchesOf<State extends string>(input: LaneInput): Stretch<State>[] {
  const { prior, within, current, window, since } = input;
  const begin = new Date(Math.max(since.getTime(), window.from.getTime()));
  const changes: Transition[] = [...within];
  const [first] = within;
  if (prior !== null) changes.unshift({ ...prior, at: begin });
  else if (first !== undefined && (first.from !== null || first.at.getTime() - since.getTime() > derivedWithinMs)) {
    const at = first.from === null ? begin : window.from;
    changes.unshift({ at, from: null, to: first.from ?? '', cause: null, waitsFor: null });
  } else if (first === undefined && current !== null) {
    changes.unshift({ at: begin, from: null, to: current.state, cause: current.cause, waitsFor: current.waitsFor });
  }
  return changes.flatMap((change, index): Stretch<State>[] => {
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
 * Joins neighbours that are shorter than `slotMs` into one that shows their worst, so that a lane has an end. What still
 * is so stays by itself: the present is never hidden behind what was.
 */
export function joinShort<State extends ExtensionHealth | HeartbeatVerdict>(
  stretches: readonly Stretch<State>[],
  slotMs: number,
  worstFirst: readonly State[],
): Stretch<State>[] {
  const well = worstFirst.findIndex((state) => state === 'healthy' || state === 'ready');
  // What nobody recorded is better than trouble and worse than well.
  const rank = (state: State | null): number => (state === null ? well - 0.5 : worstFirst.indexOf(state));
  const joined: Stretch<State>[] = [];
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

/** Joins events that stand closer than `slotMs` and that `alike` calls alike; the last one speaks for all. Oldest first. */
export function joinEvents<Event extends Moment>(
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

/** What an `extension.set` of the activity did, by its most telling part. */
export function declaredBy(old: Details | null, now: Details): Declared {
  if (old === null) return 'added';
  if (old.version !== now.version) return 'version';
  if (old.state !== now.state) return now.state === 'disabled' ? 'disabled' : 'enabled';
  if (canonicalJson(old.publicSettings ?? {}) !== canonicalJson(now.publicSettings ?? {})) return 'settings';
  // Of protected settings the activity keeps which sealed copy it was.
  const sealed = [old, now].map((side) => canonicalJson(side.protectedSettings ?? null));
  return sealed[0] === sealed[1] ? 'other' : 'secrets';
}
