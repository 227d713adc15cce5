'use client';

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { ageMs } from '../../model-data.ts';
import {
  eventsPageSize,
  type Moment,
  momentOf,
  type RelationName,
  type RelationParts,
  type ShownRelationDetails,
} from './relation-data.ts';

/** What the server read for a query at `readAt`; an empty object if it could not read it. */
const initial = <Data>(data: Data | undefined, readAt: number) =>
  data === undefined ? {} : { initialData: data, initialDataUpdatedAt: readAt };

/** Loads a relation, and reloads it when something about it changes. */
export function useRelation(name: RelationName, first: ShownRelationDetails, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.relations.get.queryOptions(name),
    ...{ initialData: first, initialDataUpdatedAt: readAt, enabled: false, retry: false },
  });
  useThrottledReload({ queryKey: trpc.relations.get.queryKey(name), refetch: query.refetch, agesMs: ageMs });
  return query;
}

/** Interval in milliseconds at which parts are reloaded that change only by news. */
const rarelyMs = 60_000;

/** Loads the units whose hook of the relation fails. */
export function useFailing(name: RelationName, first: RelationParts['failing'], readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.relations.failing.queryOptions(name),
    ...initial(first, readAt),
    ...{ enabled: false, retry: false },
  });
  useThrottledReload({ queryKey: trpc.relations.failing.queryKey(name), refetch: query.refetch, agesMs: ageMs });
  return query;
}

/** Loads the settings of all units as they are now: with values for operators, with keys and sizes for viewers. */
export function useNow(name: RelationName, first: RelationParts, readAt: number) {
  const trpc = useTRPC();
  const may = useReader().can('operator');
  const nodes = useQuery({
    ...trpc.relations.nodes.queryOptions(name),
    ...initial(first.nodes, readAt),
    ...{ enabled: false, retry: false },
  });
  const settings = useQuery({
    ...trpc.relations.settings.queryOptions(name),
    ...initial(first.settings, readAt),
    ...{ enabled: false, retry: false },
  });
  const query = may ? settings : nodes;
  const queryKey = may ? trpc.relations.settings.queryKey(name) : trpc.relations.nodes.queryKey(name);
  useThrottledReload({ queryKey, refetch: query.refetch, agesMs: rarelyMs });
  const moment: Moment | undefined = query.data && momentOf(query.data);
  return { query, moment };
}

/** Loads the settings of all units at a clock. The past does not change; nothing is loaded if `clock` is null. */
export function usePast({ model, number }: RelationName, clock: number | null) {
  const trpc = useTRPC();
  const may = useReader().can('operator');
  const input = { model, number, at: String(clock ?? 0) };
  const rest = { retry: false, staleTime: Number.POSITIVE_INFINITY, placeholderData: keep } as const;
  const nodes = useQuery({ ...trpc.relations.nodes.queryOptions(input), ...rest, enabled: clock !== null && !may });
  const settings = useQuery({
    ...trpc.relations.settings.queryOptions(input),
    ...rest,
    enabled: clock !== null && may,
  });
  const query = may ? settings : nodes;
  const moment: Moment | undefined = query.data && clock !== null ? momentOf(query.data) : undefined;
  return { query, moment };
}

/** While the reader moves the slider, the moment before stays on screen. */
const keep = <Data>(before: Data | undefined): Data | undefined => before;

/** Loads the history of a relation, newest first, one page at a time. */
export function useEvents(name: RelationName, first: RelationParts, readAt: number) {
  const trpc = useTRPC();
  const input = { ...name, limit: eventsPageSize };
  const query = useInfiniteQuery({
    ...trpc.relations.events.infiniteQueryOptions(input, {
      getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    }),
    ...initial(first.events && { pages: [first.events], pageParams: [null] }, readAt),
    ...{ enabled: false, retry: false },
  });
  const queryKey = trpc.relations.events.infiniteQueryKey(input);
  useThrottledReload({ queryKey, refetch: query.refetch, agesMs: rarelyMs });
  return { query, events: query.data?.pages.flatMap(({ items }) => items) };
}

export type EventsRead = ReturnType<typeof useEvents>;
export type NowRead = ReturnType<typeof useNow>;
