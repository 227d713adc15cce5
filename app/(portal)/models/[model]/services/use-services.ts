'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { ageMs } from '../../model-data.ts';
import type { ShownRelation, ShownService } from './service-data.ts';

/** What the server read; undefined if it could not read it. */
export type FirstRead<Item> = { items: Item[] } | undefined;

/** Loads the services of a model, or one of them, and reloads them when something about them changes. */
export function useServices(
  input: { model: string; service?: string },
  first: FirstRead<ShownService>,
  readAt: number,
) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.services.states.queryOptions(input),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    ...{ enabled: false, retry: false },
  });
  const { refetch } = query;
  useThrottledReload({ queryKey: trpc.services.states.queryKey(input), refetch, agesMs: ageMs });
  return query;
}

/** Loads the relations of a model, and reloads them when one of them changes. */
export function useRelations(model: string, first: FirstRead<ShownRelation>, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.relations.list.queryOptions({ model }),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    ...{ enabled: false, retry: false },
  });
  const { refetch } = query;
  useThrottledReload({ queryKey: trpc.relations.list.queryKey({ model }), refetch, agesMs: 60_000 });
  return query;
}

export type ServicesRead = ReturnType<typeof useServices>;
export type RelationsRead = ReturnType<typeof useRelations>;
