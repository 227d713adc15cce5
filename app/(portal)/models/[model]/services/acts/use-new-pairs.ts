'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { endpointPairs, type ShownPair } from '../endpoint-pairs.ts';
import type { ShownService } from '../service-data.ts';

export interface NewService {
  model: string;
  name: string;
  formula: string;
  version: string;
}

/** Returns the services of the model, and the pairs of endpoints by which a new service can be related to them. */
export function useNewPairs(
  { model, name, formula, version }: NewService,
  services: readonly ShownService[],
): ShownPair[] {
  const trpc = useTRPC();
  const relations = useQuery(trpc.relations.list.queryOptions({ model }));
  const chosen = useQuery({
    ...trpc.packages.get.queryOptions({ handler: formula, version }),
    enabled: version !== '',
    // Published versions do not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const manifest = chosen.data?.manifest;
  if (manifest === undefined || 'handlerManifest' in manifest || name === '') return [];
  const endpoints = (['provides', 'requires'] as const).flatMap((side) =>
    Object.entries(manifest[side]).map(([endpoint, facts]) => ({ side, name: endpoint, ...facts, relations: 0 })),
  );
  const own = { name, life: 'alive' as const, endpoints };
  const others = services.filter((one) => one.name !== name);
  return endpointPairs([...others, own], relations.data?.items ?? []).filter(({ requires, provides }) =>
    [requires.service, provides.service].includes(name),
  );
}
