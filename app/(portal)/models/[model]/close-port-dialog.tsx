'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import type { ShownEndpoint, ShownRole } from '../model-data.ts';

export interface ClosePortDialogProps {
  role: ShownRole;
  port: ShownEndpoint;
  onClose(): void;
}

/** Closes a port that an operator opened. */
export function ClosePortDialog({ role, port: { protocol, publicPort }, onClose }: ClosePortDialogProps) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const close = useMutation(
    trpc.topology.closeEndpoint.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  const port = `${publicPort}/${protocol}`;
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('ports.close.title', { port, name: role.vm })}
      description={t('ports.close.why')}
      confirmLabel={t('ports.close.act', { port })}
      onConfirm={() => close.mutateAsync({ instance: role.id, protocol, port: publicPort })}
      error={close.error === null ? undefined : explain(close.error).message}
    />
  );
}
