'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { VmFacts } from './vm-data.ts';

export interface StockConfirmProps {
  facts: VmFacts;
  onClose(): void;
}

/** Asks for confirmation before disconnecting the stock agent of a VM. */
export function EndStockDialog({ facts: { id: vmId, name }, onClose }: StockConfirmProps) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const revoke = useMutation(
    trpc.vms.revokeWireAccess.mutationOptions({
      onSuccess: () => toast(t('stock.end.done', { name })),
      onSettled: () =>
        Promise.all([trpc.vms, trpc.instanceViews].map((part) => queryClient.invalidateQueries(part.pathFilter()))),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('stock.end.title', { name })}
      description={t('stock.end.what')}
      confirmLabel={t('stock.end')}
      onConfirm={() => revoke.mutateAsync({ vmId })}
      error={revoke.error ? explain(revoke.error).message : undefined}
    />
  );
}

/** Asks for confirmation before replacing the key that decrypts the protected settings of a stock agent. */
export function TenantKeyDialog({ facts: { id: vmId, name }, onClose }: StockConfirmProps) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const rotate = useMutation(
    trpc.vms.rotateTenantKey.mutationOptions({
      onSuccess: ({ incarnation }) => toast(t('stock.key.done', { name, incarnation })),
      onSettled: () => queryClient.invalidateQueries(trpc.vms.pathFilter()),
    }),
  );
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t('stock.key.title', { name })}
      description={t('stock.key.what')}
      confirmLabel={t('stock.key.act')}
      onConfirm={() => rotate.mutateAsync({ vmId })}
      error={rotate.error ? explain(rotate.error).message : undefined}
    />
  );
}
