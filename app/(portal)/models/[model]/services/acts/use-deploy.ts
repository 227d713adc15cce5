'use client';

import { useMutation } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { SetServiceInput } from '#server/domain/services/input.ts';
import type { AddedMachine } from '../../../model-data.ts';
import { useReloadServices } from './use-set-service.ts';

export interface NewDeployment {
  declaration: SetServiceInput;
  /** The pairs of endpoints to relate afterwards. */
  pairs: readonly [string, string][];
}

/**
 * Deploys a service, then relates it. If a relation fails, the service stays, and a message says which relation is
 * missing and why.
 */
export function useDeploy(onDone: (machines: AddedMachine[]) => void) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  const set = useMutation(trpc.services.set.mutationOptions());
  const relate = useMutation(trpc.relations.add.mutationOptions());
  const deploy = useMutation({
    mutationFn: async ({ declaration, pairs }: NewDeployment) => {
      const { newUnits } = await set.mutateAsync(declaration);
      for (const [one, other] of pairs) {
        await relate
          .mutateAsync({ model: declaration.model, endpoints: [one, other] })
          .catch((error: unknown) => toast(t('deploy.notRelated', { one, other, message: explain(error).message })));
      }
      return newUnits.flatMap(({ machine }) => machine ?? []);
    },
    onSuccess: onDone,
    onSettled: reload,
  });
  return deploy;
}
