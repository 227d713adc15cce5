'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { type Runbook, runbookHref } from '../runbook-data.ts';

/** An action on a version that needs a confirmation. */
export interface VersionAct {
  kind: 'publish' | 'withdraw' | 'delete';
  version: string;
}

export interface RunbookDialogProps {
  act: VersionAct;
  runbook: Runbook;
  onClose(): void;
}

/** Asks for confirmation before a version is published, withdrawn or deleted. */
export function VersionDialog(props: RunbookDialogProps) {
  if (props.act.kind === 'publish') return <PublishDialog {...props} />;
  return props.act.kind === 'withdraw' ? <WithdrawDialog {...props} /> : <DeleteDialog {...props} />;
}

function useReload() {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () => queries.invalidateQueries(trpc.runbooks.pathFilter());
}

function PublishDialog({ act: { version }, runbook: { name, title }, onClose }: RunbookDialogProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReload();
  const publish = useMutation(
    trpc.runbooks.publish.mutationOptions({
      onSuccess: async () => {
        toast(t('publish.done', { version }));
        await reload();
      },
    }),
  );
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t('publish.title', { name: title, version })}
      description={t('publish.what')}
      confirmLabel={t('act.publish', { version })}
      onConfirm={() => publish.mutateAsync({ name, version })}
      error={publish.error === null ? undefined : explain(publish.error).message}
    />
  );
}

function WithdrawDialog({ act: { version }, runbook: { name, title }, onClose }: RunbookDialogProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReload();
  const [reason, setReason] = useState('');
  const [wasTried, setTried] = useState(false);
  const withdraw = useMutation(
    trpc.runbooks.withdraw.mutationOptions({
      onSuccess: async () => {
        await reload();
        toast(t('withdraw.done', { version }));
        onClose();
      },
    }),
  );
  const problem = withdraw.error === null ? undefined : explain(withdraw.error);
  const isMissing = wasTried && reason.trim() === '';
  return (
    <FormDialog
      title={t('withdraw.title', { name: title, version })}
      description={t('withdraw.what')}
      act={t('act.withdraw', { version })}
      isDanger
      busy={withdraw.isPending}
      onEdit={() => forgetError(withdraw)}
      onSubmit={() => {
        setTried(true);
        if (reason.trim() !== '') withdraw.mutate({ name, version, reason });
      }}
      onClose={onClose}
    >
      <Field
        label={t('withdraw.reason')}
        hint={t('withdraw.reason.hint')}
        error={isMissing ? t('withdraw.reason.missing') : (faultAt(problem, '/reason') ?? problem?.message)}
      >
        <Textarea
          autoFocus
          rows={3}
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}

function DeleteDialog({ act: { version }, runbook: { name, versions }, onClose }: RunbookDialogProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const router = useRouter();
  const explain = useProblem();
  const isLast = versions.length === 1;
  const remove = useMutation(trpc.runbooks.removeDraft.mutationOptions());
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete.title', { version })}
      description={t(isLast ? 'delete.last' : 'delete.what')}
      confirmLabel={t('act.delete', { version })}
      onConfirm={async () => {
        await remove.mutateAsync({ name, version });
        toast(t('delete.done', { version }));
        // The page of the deleted version would be loaded again and fail, so leave it first.
        router.push(isLast ? '/runbooks' : runbookHref(name));
      }}
      error={remove.error === null ? undefined : explain(remove.error).message}
    />
  );
}
