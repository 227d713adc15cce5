'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { Extension } from '../vm-data.ts';

/** The retry that this page requested last. */
export interface Retry {
  /** Name of the extension whose retry is being requested; null while no request is pending. */
  busy: string | null;
  /** Why the last request failed. */
  problem: { name: string; message: string } | null;
  /** Whether this page requested a retry of the extension and the agent has not reported that retry yet. */
  isRequested(extension: Pick<Extension, 'name' | 'goalSequenceNumber' | 'handlerState'>): boolean;
  /** Runs an extension's handler again. Ignored while another request is pending. */
  start(extension: Pick<Extension, 'name' | 'goalSequenceNumber'>): void;
}

/** Retries a VM's extensions. A retry applies to the sequence number that the page showed. */
export function useRetry(vmId: string): Retry {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const explain = useProblem();
  const invalidate = useInvalidateRetries();
  const { mutate, isPending, variables, error, data } = useMutation(
    trpc.goalStates.retryExtension.mutationOptions({
      onSuccess: (_, { name }) => toast(t('retry.done', { name })),
      // Reloads even after a rejection, because someone else may have changed the extension.
      onSettled: invalidate,
    }),
  );
  const name = variables?.name ?? '';
  return {
    busy: isPending ? name : null,
    problem: error === null ? null : { name, message: explain(error).message },
    isRequested: (extension) =>
      data !== undefined &&
      extension.name === data.name &&
      extension.goalSequenceNumber === data.sequenceNumber &&
      extension.handlerState?.sequenceNumber !== data.sequenceNumber,
    start: (extension) => {
      if (!isPending) mutate({ vmId, name: extension.name, sequenceNumber: extension.goalSequenceNumber });
    },
  };
}

/** Returns a function that reloads the data that a retry changes. */
export function useInvalidateRetries(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      [trpc.instanceViews, trpc.vms, trpc.goalStates].map((router) =>
        queryClient.invalidateQueries(router.pathFilter()),
      ),
    );
}
