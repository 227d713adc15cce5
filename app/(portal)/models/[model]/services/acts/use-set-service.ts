'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { AddedMachine } from '../../../model-data.ts';

export interface SetServiceOptions {
  onAdded?(machines: readonly AddedMachine[]): void;
  onDone(): void;
}

/** Returns a function that reloads what acts on services change. */
export function useReloadServices(): () => Promise<void> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return async () => {
    void queries.invalidateQueries(trpc.services.pathFilter());
    void queries.invalidateQueries(trpc.relations.pathFilter());
    await queries.invalidateQueries(trpc.models.pathFilter());
  };
}

/** Declares a service, and passes on the machines that its new units got. */
export function useSetService({ onAdded, onDone }: SetServiceOptions) {
  const trpc = useTRPC();
  const reload = useReloadServices();
  return useMutation(
    trpc.services.set.mutationOptions({
      onSuccess: ({ newUnits }) => {
        onAdded?.(newUnits.flatMap(({ machine }) => machine ?? []));
        onDone();
      },
      onSettled: reload,
    }),
  );
}
