'use client';

import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Name } from '#app/_ui/name.tsx';
import { executionHref, type ShownExecution } from '#app/(portal)/executions/execution-data.ts';
import { withoutIdentity } from '../plan-text.ts';

export interface RunAgainDialogProps {
  execution: ShownExecution;
  onClose(): void;
}

/** Asks for confirmation, then queues the same plan again with the same timeout. */
export function RunAgainDialog({ execution, onClose }: RunAgainDialogProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const explain = useProblem();
  const { vmId, vmName, id, timeoutSeconds } = execution;
  const name = execution.name === '' ? t('unnamed') : execution.name;
  const queue = useMutation(
    trpc.executions.queue.mutationOptions({
      onSuccess: (queued) => router.push(executionHref({ vmId, id: queued.id })),
    }),
  );
  const again = async () => {
    const plan = await client.executions.plan.query({ vmId, executionId: id });
    await queue.mutateAsync({ vmId, plan: withoutIdentity(plan), timeoutSeconds });
  };
  const run = useMutation({ mutationFn: again });
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={<Trans text={t('again.title', { name, vm: vmName })} tags={{ name: <Name /> }} />}
      description={t('again.what')}
      confirmLabel={t('again')}
      onConfirm={() => run.mutateAsync()}
      error={run.error ? explain(run.error).message : undefined}
    />
  );
}
