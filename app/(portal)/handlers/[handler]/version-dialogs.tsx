'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { PackageKind } from '#protocol/formula-words.ts';
import { StoppedRollouts } from './stopped-rollouts.tsx';

export interface VersionDialogProps {
  act: 'withdraw' | 'delete';
  handler: string;
  version: string;
  /** Number of VMs with this version in their goal state. */
  vms: number;
  kind: PackageKind;
  onClose(): void;
  /** URL to open after the draft is deleted; if absent, the reader stays on the current page. */
  leaveTo?: string;
}

/** Confirms withdrawing a version or deleting a draft. */
export function VersionDialog(props: VersionDialogProps) {
  return props.act === 'withdraw' ? <WithdrawDialog {...props} /> : <DeleteDialog {...props} />;
}

function useInvalidate() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries(trpc.handlers.pathFilter()),
      queryClient.invalidateQueries(trpc.packages.pathFilter()),
    ]);
}

function WithdrawDialog({ handler, version, vms, kind, onClose }: VersionDialogProps) {
  const { t } = useTranslation(['packages', 'common']);
  const trpc = useTRPC();
  const invalidate = useInvalidate();
  const explain = useProblem();
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState(false);
  const withdraw = useMutation(
    trpc.packages.withdraw.mutationOptions({
      onSuccess: async () => {
        await invalidate();
        toast(t('packages:withdraw.done', { version }));
        onClose();
      },
    }),
  );
  const problem = withdraw.error ? explain(withdraw.error) : undefined;
  const submit = () => {
    setMissing(reason.trim() === '');
    if (reason.trim() !== '') withdraw.mutate({ handler, version, reason });
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('packages:withdraw.title', { version })}
      description={kind === 'formula' ? t('packages:withdraw.why.formula') : t('packages:withdraw.why', { count: vms })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button variant="danger-solid" busy={withdraw.isPending} onClick={submit}>
            {t('packages:withdraw.act', { version })}
          </Button>
        </>
      }
    >
      {kind === 'formula' ? null : <StoppedRollouts handler={handler} version={version} />}
      <Field
        label={t('packages:withdraw.reason')}
        hint={t('packages:withdraw.reason.hint')}
        error={missing ? t('packages:withdraw.reason.missing') : (faultAt(problem, '/reason') ?? problem?.message)}
      >
        <Textarea
          rows={3}
          maxLength={1000}
          value={reason}
          onChange={(event) => {
            setReason(event.target.value);
            setMissing(false);
            forgetError(withdraw);
          }}
        />
      </Field>
    </Dialog>
  );
}

function DeleteDialog({ handler, version, onClose, leaveTo }: VersionDialogProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const router = useRouter();
  const invalidate = useInvalidate();
  const explain = useProblem();
  const remove = useMutation(trpc.packages.remove.mutationOptions());
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete.title', { version })}
      description={t('delete.why')}
      confirmLabel={t('delete.act', { version })}
      phrase={version}
      error={remove.error === null ? undefined : explain(remove.error).message}
      onConfirm={async () => {
        await remove.mutateAsync({ handler, version });
        toast(t('delete.done', { version }));
        if (leaveTo !== undefined) router.push(leaveTo);
        else await invalidate();
      }}
    />
  );
}
