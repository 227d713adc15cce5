import type { ExtensionHealth, HealthCause, HeartbeatVerdict } from '#server/domain/verdicts/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { ExecutionSpan } from './execution-spans.ts';
import type { HookSpan } from './hook-spans.ts';

/** The history of a VM between two times. Times are ISO 8601, by the portal's clock. */
export interface Timeline {
  from: string;
  to: string;
  /** When the history was read, by the portal's clock. The known history ends here. */
  readAt: string;
  configuration: Publication[];
  acts: PersonAct[];
  executions: ExecutionSpan[];
  hooks: HookSpan[];
  /** Sorted by name, including removed extensions. */
  lanes: TimelineLane[];
  /**
   * Number of events, executions, hooks and health spans that were merged with a neighbor, because they are too close
   * together to show separately.
   */
  merged: number;
  /** Health before this time is omitted, because there was too much to read; null if nothing is omitted. */
  healthSince: string | null;
}

interface Moment {
  at: string;
  /** Time of the last merged event; equal to `at` if there is only one event. */
  until: string;
  /** Number of merged events. */
  count: number;
}

/** Published goal states that were merged. `incarnation`, `by` and `cause` are those of the last goal state. */
export interface Publication extends Moment {
  incarnation: number;
  by: string;
  cause: { action: string; extension?: string; incarnation?: number; rollout?: string };
}

/** What an action changed about an extension's declaration. */
export type DeclaredChange = 'added' | 'version' | 'enabled' | 'disabled' | 'settings' | 'secrets' | 'other';

/**
 * Merged actions of one user, or of the portal on behalf of a user, such as the scheduled end of a hold. All fields
 * except `at` and `count` are those of the last action.
 */
export interface PersonAct extends Moment {
  who: string;
  kind: 'user' | 'token' | 'bootstrap' | 'system';
  action: string;
  target: string;
  declared: DeclaredChange | null;
}

export interface TimelineLane {
  extension: string;
  health: TimelineSpan<ExtensionHealth>[];
  heartbeat: TimelineSpan<HeartbeatVerdict>[];
}

/** A period in one state. `state` is null if it was not recorded. */
export interface TimelineSpan<State extends string> {
  from: string;
  /** Null if the period has not ended. */
  to: string | null;
  state: State | null;
  cause: HealthCause | null;
  waitsFor: string | null;
  /** Number of spans merged into this one. If it is above 1, the span shows the worst state. */
  count: number;
}

/** A row of `health_transitions` for one extension and kind. */
export interface HealthTransitionRow {
  at: Date;
  from: string | null;
  to: string | null;
  cause: HealthCause | null;
  waitsFor: string | null;
}

export interface LaneInput {
  /** The last transition before the window; null if there is none. */
  prior: HealthTransitionRow | null;
  /** Transitions within the window, oldest first. */
  within: readonly HealthTransitionRow[];
  /**
   * The current state, which applies if there is no transition before or within the window; null if the extension does
   * not exist.
   */
  current: { state: string; cause: HealthCause | null; waitsFor: string | null } | null;
  window: { from: Date; to: Date };
  /** Nothing is known before this time. */
  since: Date;
}

/**
 * Health is derived shortly after a report is stored. A shorter gap than this is due to that delay; it is not missing
 * history.
 */
const derivedWithinMs = 60_000;

/** Returns the spans of one lane, oldest first. `state` is null while there is no record of the extension. */
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
 * Merges neighboring spans that together are shorter than `slotMs` into one span that shows the worst state. This
 * limits the number of spans in a lane. The current state is never merged, so earlier states cannot hide it.
 */
export function mergeShort<State extends ExtensionHealth | HeartbeatVerdict>(
  stretches: readonly TimelineSpan<State>[],
  slotMs: number,
  worstFirst: readonly State[],
): TimelineSpan<State>[] {
  const well = worstFirst.findIndex((state) => state === 'healthy' || state === 'ready');
  // A span without a record ranks between problems and `healthy`.
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

/**
 * Merges events that occurred within `slotMs` and for which `alike` returns true. The last event represents the merged
 * events, and `at` is the time of the first. `events` and the result are sorted, oldest first.
 */
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

/** Returns the most significant change of an `extension.set` entry. */
export function declaredBy(old: Details | null, now: Details): DeclaredChange {
  if (old === null) return 'added';
  if (old.version !== now.version) return 'version';
  if (old.state !== now.state) return now.state === 'disabled' ? 'disabled' : 'enabled';
  if (canonicalJson(old.publicSettings ?? {}) !== canonicalJson(now.publicSettings ?? {})) return 'settings';
  // For protected settings, the log stores the id of the encrypted copy, which changes when the settings change.
  const sealed = [old, now].map((side) => canonicalJson(side.protectedSettings ?? null));
  return sealed[0] === sealed[1] ? 'other' : 'secrets';
}
