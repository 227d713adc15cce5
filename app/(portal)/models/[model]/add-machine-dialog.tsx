'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { ModelDialogsProps } from './model-acts.ts';

/** Adds a machine to a model without availability sets. */
export function AddMachineDialog({ model: { name }, onAdded, onClose }: Omit<ModelDialogsProps, 'act'>) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const add = useMutation(
    trpc.models.addMachine.mutationOptions({
      onSuccess: (machine) => {
        onAdded([machine]);
        onClose();
      },
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  return (
    <FormDialog
      title={t('addMachine.title', { name })}
      act={t('act.addMachine')}
      busy={add.isPending}
      onSubmit={() => add.mutate({ model: name })}
      onClose={onClose}
      error={add.error === null ? undefined : explain(add.error).message}
    >
      <p className="text-ink-2">{t('addMachine.why')}</p>
      <p className="text-ink-2">{t('addMachine.next')}</p>
    </FormDialog>
  );
}
