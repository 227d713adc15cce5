'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Name } from '#app/_ui/name.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { isWaiting, type ShownExecution } from './execution-data.ts';

function useReload() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () => queries.invalidateQueries(trpc.executions.pathFilter());
}

export interface CancelDialogProps {
  execution: ShownExecution;
  onClose(): void;
}

/** Asks for confirmation before canceling an execution. */
export function CancelDialog({ execution, onClose }: CancelDialogProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const explain = useProblem();
  const name = execution.name === '' ? t('unnamed') : execution.name;
  const cancel = useMutation(
    trpc.executions.cancel.mutationOptions({
      onSuccess: ({ isEnded }) => toast(t(isEnded ? 'cancel.done' : 'cancel.asked', { name })),
      onSettled: useReload(),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('cancel.title', { name, vm: execution.vmName })} tags={{ name: <Name /> }} />}
      description={t(isWaiting(execution) ? 'cancel.waiting' : 'cancel.open')}
      confirmLabel={t('cancel.confirm')}
      cancelLabel={t('cancel.keep')}
      onConfirm={() => cancel.mutateAsync({ vmId: execution.vmId, executionId: execution.id })}
      error={cancel.error ? explain(cancel.error).message : undefined}
    />
  );
}

export interface CancelWaitingDialogProps {
  vmId: string;
  name: string;
  count: number;
  onClose(): void;
}

/** Asks for confirmation before canceling all executions that wait for a VM. */
export function CancelWaitingDialog({ vmId, name, count, onClose }: CancelWaitingDialogProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const explain = useProblem();
  const cancel = useMutation(
    trpc.executions.cancelWaiting.mutationOptions({
      onSuccess: (canceled) => toast(t('cancelWaiting.done', { count: canceled })),
      onSettled: useReload(),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('cancelWaiting.title', { count, name })} tags={{ name: <Name /> }} />}
      description={t('cancelWaiting.what')}
      confirmLabel={t('cancelWaiting.confirm', { count })}
      cancelLabel={t('cancelWaiting.keep', { count })}
      onConfirm={() => cancel.mutateAsync({ vmId })}
      error={cancel.error ? explain(cancel.error).message : undefined}
    />
  );
}
