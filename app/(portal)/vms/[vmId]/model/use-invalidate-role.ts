'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';

/** Returns a function that reloads what depends on the model of a VM. */
export function useInvalidateRole(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all(
      [trpc.vms, trpc.instanceViews, trpc.models, trpc.units].map((part) =>
        queries.invalidateQueries(part.pathFilter()),
      ),
    );
}
