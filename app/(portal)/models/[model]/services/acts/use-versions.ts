'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';

/** Loads a formula with its published versions, the highest first. */
export function useVersions(formula: string) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.handlers.get.queryOptions({ handler: formula }), enabled: formula !== '' });
  const published = query.data?.versions.filter(({ state }) => state === 'published').map(({ version }) => version);
  return { ...query, published: published ?? [], formula: query.data?.newest?.formula ?? null };
}
