'use client';

import { useMutation } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import { useReloadServices } from '../acts/use-set-service.ts';

/** A failed run of a unit. */
export interface FailedRunOfUnit {
  unit: string;
  run: string;
}

/** Returns functions that let failing hooks run again now: some, or all of a service or of the model. */
export function useRunAgain(model: string) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  const all = useMutation(trpc.services.resolve.mutationOptions());
  const one = useMutation(trpc.units.resolve.mutationOptions());
  const run = useMutation({
    mutationFn: async (what: { service: string | undefined } | readonly FailedRunOfUnit[]) => {
      if ('service' in what) {
        const service = what.service === undefined ? {} : { service: what.service };
        return (await all.mutateAsync({ model, retry: true, ...service })).resolved.length;
      }
      for (const { unit, run: id } of what) await one.mutateAsync({ model, unit, run: id, retry: true });
      return what.length;
    },
    onSuccess: (count) => toast(t('needs.requested', { count })),
    onSettled: reload,
  });
  return {
    isPending: run.isPending,
    error: run.error === null ? undefined : explain(run.error).message,
    all: (service?: string) => run.mutate({ service }),
    some: (runs: readonly FailedRunOfUnit[]) => run.mutate(runs),
  };
}
