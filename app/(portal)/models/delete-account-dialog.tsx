'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Name } from '#app/_ui/name.tsx';

/** Deletes a storage account that no model uses. */
export function DeleteAccountDialog({ name, onClose }: { name: string; onClose(): void }) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const remove = useMutation(
    trpc.models.deleteStorageAccount.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('accounts.delete.title', { name })} tags={{ name: <Name /> }} />}
      description={t('accounts.delete.why')}
      confirmLabel={t('accounts.delete.act')}
      onConfirm={() => remove.mutateAsync({ name })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    />
  );
}
