'use client';

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { ageMs } from '../../model-data.ts';
import {
  type MachineRows,
  type NamedUnit,
  type RelationOfUnit,
  type RunsPage,
  runsPageSize,
  type ShownDue,
  type ShownUnitDetails,
  type UnitInstance,
} from './unit-data.ts';

/** Interval in milliseconds at which parts are reloaded that change only by news. */
const rarelyMs = 60_000;

/** What the server read for a query at `readAt`; an empty object if it could not read it. */
const initial = <Data>(data: Data | undefined, readAt: number) =>
  data === undefined ? {} : { initialData: data, initialDataUpdatedAt: readAt };

/** Loads a unit, and reloads it when something about it changes. */
export function useUnit(name: NamedUnit, first: ShownUnitDetails, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.units.get.queryOptions(name),
    ...{ initialData: first, initialDataUpdatedAt: readAt, enabled: false, retry: false },
  });
  useThrottledReload({ queryKey: trpc.units.get.queryKey(name), refetch: query.refetch, agesMs: ageMs });
  return query;
}

/** Loads the hooks that are due on a unit. */
export function useDue(name: NamedUnit, first: { items: ShownDue[] } | undefined, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.units.due.queryOptions(name),
    ...initial(first, readAt),
    ...{ enabled: false, retry: false },
  });
  useThrottledReload({ queryKey: trpc.units.due.queryKey(name), refetch: query.refetch, agesMs: rarelyMs });
  return query;
}

/** Loads the relations of a unit. */
export function useUnitRelations(name: NamedUnit, first: { items: RelationOfUnit[] } | undefined, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.units.relations.queryOptions(name),
    ...initial(first, readAt),
    ...{ enabled: false, retry: false },
  });
  useThrottledReload({ queryKey: trpc.units.relations.queryKey(name), refetch: query.refetch, agesMs: rarelyMs });
  return query;
}

/** Loads the runs of a unit’s hooks, newest first, one page at a time. */
export function useRuns(name: NamedUnit, first: RunsPage | undefined, readAt: number) {
  const trpc = useTRPC();
  const input = { ...name, limit: runsPageSize };
  const query = useInfiniteQuery({
    ...trpc.units.runs.infiniteQueryOptions(input, { getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined }),
    ...initial(first && { pages: [first], pageParams: [null] }, readAt),
    ...{ enabled: false, retry: false },
  });
  const queryKey = trpc.units.runs.infiniteQueryKey(input);
  useThrottledReload({ queryKey, refetch: query.refetch, agesMs: rarelyMs });
  return { query, runs: query.data?.pages.flatMap(({ items }) => items) };
}

/** Loads the health and the agent of the unit’s machine. */
export function useMachine({ vmId }: NamedUnit, first: MachineRows | undefined, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.fleet.rows.queryOptions({ vmIds: [vmId] }),
    ...initial(first, readAt),
    refetchInterval: ageMs,
  });
  return { query, machine: query.data?.items[0] };
}

/** Loads the instance that the unit’s machine is in the topology. */
export function useInstance({ model }: NamedUnit, id: string | null, first: UnitInstance | undefined) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.models.instances.queryOptions({ model, ids: [id ?? ''] }),
    ...{ enabled: id !== null, retry: false },
  });
  return query.data?.instances[0] ?? first ?? null;
}

export type RunsRead = ReturnType<typeof useRuns>;
export type MachineRead = ReturnType<typeof useMachine>;
