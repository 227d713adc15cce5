import { max } from 'drizzle-orm';
import { z } from 'zod';
import { auditEntries, doors, healthTransitions } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, instant, pageOf } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { fleetEventKinds } from '#server/domain/health/index.ts';
import { parse } from '#server/domain/parse.ts';
import { isStorable, type ListFeedInput, listFeedInput } from '../input.ts';
import { type ActFold, type ActPlace, placeOfAct, readActFolds } from './act-folds.ts';
import { conditionOf, maySeeContents } from './activity-filter.ts';
import { type EventGroup, type EventPlace, listEventGroups } from './event-groups.ts';
import { findTargets } from './find-targets.ts';
import { type ActRow, rowOf } from './list-activity.ts';
import { nameChanges } from './named-changes.ts';

const thing = z.object({ id: z.string(), name: z.string() });
const isThere = z.boolean().describe('Whether the target or VM still exists.');

/**
 * An item of the activity feed: an action, or the newest of several similar actions, or the VMs with the same kind of
 * event within one minute.
 */
export const feedItem = z.object({
  type: z.enum(['action', 'event']),
  at: instant,
  action: z
    .object({
      id: z.number().int(),
      code: z.string(),
      actor: thing.extend({ kind: z.string() }),
      target: thing.extend({ kind: z.string(), isThere }),
      vm: thing.extend({ isThere }).nullable(),
      door: z.enum(doors).nullable(),
    })
    .nullable()
    .describe('The newest of the actions.'),
  fold: z
    .object({ actions: count, vms: count, targets: count, from: instant })
    .nullable()
    .describe('Consecutive actions by one actor, with the same code and kind of target, within ten minutes.'),
  event: z
    .object({
      kind: z.enum(fleetEventKinds),
      minute: instant.describe('`GET /vms?event=<kind>:<minute>` lists these VMs.'),
      vms: count,
      vm: thing.nullable(),
      extension: z.string().nullable(),
    })
    .nullable(),
});
export const feedPage = pageOf(feedItem);

/** An item of the activity feed, as the pages show it. */
export type FeedItem =
  | { type: 'action'; at: Date; act: ActRow; fold: FoldSummary | null }
  | ({ type: 'event'; at: Date } & { event: EventGroup });

/** How many actions an item of the feed combines; `from` is the time of the oldest action. */
export interface FoldSummary {
  actions: number;
  vms: number;
  targets: number;
  from: Date;
}

export interface Feed {
  items: FeedItem[];
  nextCursor: string | null;
  /**
   * Ids of the newest entry and of the newest event; 0 if there is none. `countNewerActs` counts the entries and events
   * after these ids.
   */
  newest: number;
  newestEvent: number;
}

/**
 * Returns one list of actions and events of VMs, newest first. Similar actions are one item, and so are the events of
 * one kind within one minute. An item never continues on the next page. Settings are named in the preferred languages.
 */
export async function listFeed(
  ctx: Context,
  input: ListFeedInput,
  wanted: readonly WantedLanguage[] = [],
): Promise<Feed> {
  allow(ctx.actor, 'viewer');
  const { limit, cursor, mark, ...filter } = parse(listFeedInput, input ?? {});
  const place: Places = cursor === undefined ? {} : placesOf(cursor);
  const matches = await conditionOf(ctx, filter);
  const [[act], [event], folds, groups] = await Promise.all([
    ctx.db.select({ newest: max(auditEntries.id) }).from(auditEntries),
    ctx.db.select({ newest: max(healthTransitions.id) }).from(healthTransitions),
    readActFolds(ctx, matches, { after: place.act, limit: limit + 1, mark }),
    listEventGroups(ctx, filter, place.event, limit + 1),
  ]);
  const taken = merge(folds, groups, limit);
  const shownFolds = folds.slice(0, taken.folds);
  const shownGroups = groups.slice(0, taken.groups);
  const isLast = taken.folds === folds.length && taken.groups === groups.length;
  const acts = await actItems(ctx, shownFolds, wanted);
  return {
    items: taken.order.map((type, index) => {
      const nth = taken.order.slice(0, index).filter((each) => each === type).length;
      const group = shownGroups[nth];
      return type === 'event' && group ? { type, at: group.at, event: group } : (acts[nth] as FeedItem);
    }),
    nextCursor: isLast ? null : cursorAfter(place, shownFolds.at(-1), shownGroups),
    newest: act?.newest ?? 0,
    newestEvent: event?.newest ?? 0,
  };
}

/** Merges two lists by time. Returns the types in order, and the number of items taken from each list. */
function merge(folds: readonly ActFold[], groups: readonly EventGroup[], limit: number) {
  const order: FeedItem['type'][] = [];
  const taken = { folds: 0, groups: 0 };
  while (order.length < limit) {
    const [fold, group] = [folds[taken.folds], groups[taken.groups]];
    if (fold === undefined && group === undefined) break;
    const isAct = group === undefined || (fold !== undefined && fold.first.at >= group.at);
    order.push(isAct ? 'action' : 'event');
    taken[isAct ? 'folds' : 'groups'] += 1;
  }
  return { order, ...taken };
}

async function actItems(
  ctx: Context,
  folds: readonly ActFold[],
  wanted: readonly WantedLanguage[],
): Promise<FeedItem[]> {
  const rows = folds.map(({ first }) => first);
  // An item about several targets shows their number, not what changed.
  const named = folds.flatMap(({ first, vmIds, targetIds }) =>
    vmIds.size <= 1 && targetIds.size === 1 ? [first] : [],
  );
  const [targets, changes] = await Promise.all([findTargets(ctx, rows), nameChanges(ctx, named, wanted)]);
  return folds.map(({ first, last, count: actions, vmIds, targetIds }) => ({
    type: 'action',
    at: first.at,
    act: {
      ...rowOf(ctx, first, targets),
      hasContents: first.hasContents && maySeeContents(ctx.actor, first),
      changes: changes.get(first.id) ?? null,
    },
    fold: actions === 1 ? null : { actions, vms: vmIds.size, targets: targetIds.size, from: last.at },
  }));
}

/** Returns a list item in the form that `/api/v1` returns. */
export function feedItemOf(item: FeedItem): z.output<typeof feedItem> {
  if (item.type === 'event') {
    const { kind, minute, vms, vm, extension } = item.event;
    return { type: 'event', at: item.at, action: null, fold: null, event: { kind, minute, vms, vm, extension } };
  }
  const { id, action: code, actor, target, vm, door } = item.act;
  const { kind, name } = actor;
  const action = { id, code, actor: { kind, id: actor.id, name }, target, vm, door };
  return { type: 'action', at: item.at, action, fold: item.fold, event: null };
}

interface Places {
  act?: ActPlace;
  event?: EventPlace;
}

function cursorAfter(before: Places, fold: ActFold | undefined, groups: readonly EventGroup[]): string {
  const act = fold === undefined ? before.act : placeOfAct(fold.last);
  const minute = groups.at(-1)?.minute.toISOString();
  const inMinute = groups.filter((group) => group.minute.toISOString() === minute).length;
  const earlier = minute !== undefined && before.event?.minute === minute ? before.event.taken : 0;
  const event = minute === undefined ? before.event : { minute, taken: inMinute + earlier };
  return writeCursor([act?.at ?? '', act?.id ?? '', event?.minute ?? '', String(event?.taken ?? 0)]);
}

function placesOf(cursor: string): Places {
  const [at = '', id = '', minute = '', taken = ''] = readCursor(cursor, 4);
  const isNumber = (text: string) => /^\d{1,15}$/.test(text);
  if ((at !== '' && !(isTime(at) && isNumber(id))) || (minute !== '' && !isTime(minute)) || !isNumber(taken)) {
    throw new DomainError('bad_request', 'cursor_invalid');
  }
  return {
    ...(at !== '' && { act: { at: new Date(at).toISOString(), id } }),
    ...(minute !== '' && { event: { minute: new Date(minute).toISOString(), taken: Number(taken) } }),
  };
}

/** Cursors contain times in this format. The time is checked because `Date` accepts times that PostgreSQL does not. */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(text) && !Number.isNaN(Date.parse(text)) && isStorable(text);
