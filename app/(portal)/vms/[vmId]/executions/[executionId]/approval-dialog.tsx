'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { Name } from '#app/_ui/name.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';

export interface ApprovalDialogProps {
  execution: ShownExecutionDetails;
  decision: 'approve' | 'decline';
  onClose(): void;
}

/** Approves or declines an execution, with a note for the person who queued it. */
export function ApprovalDialog({ execution, decision, onClose }: ApprovalDialogProps) {
  const { t } = useTranslation(['executions', 'common']);
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const [note, setNote] = useState('');
  const { vmId, vmName, id } = execution;
  const name = execution.name === '' ? t('executions:unnamed') : execution.name;
  const decide = useMutation(
    trpc.executions.decide.mutationOptions({
      onSuccess: () => {
        toast(t(`executions:approval.${decision}.done`, { name }));
        onClose();
      },
      onSettled: () => queries.invalidateQueries(trpc.executions.pathFilter()),
    }),
  );
  return (
    <FormDialog
      title={
        <Trans text={t(`executions:approval.${decision}.title`, { name, vm: vmName })} tags={{ name: <Name /> }} />
      }
      description={t(`executions:approval.${decision}.what`, { name: execution.queuedBy })}
      act={t(`executions:approval.${decision}`)}
      isDanger={decision === 'decline'}
      busy={decide.isPending}
      onEdit={() => forgetError(decide)}
      onSubmit={() =>
        decide.mutate({
          ...{ vmId, executionId: id, approve: decision === 'approve' },
          ...(note.trim() !== '' && { note: note.trim() }),
        })
      }
      onClose={onClose}
      error={decide.error === null ? undefined : explain(decide.error).message}
    >
      <Field label={t('executions:run.note')} note={t('common:optional')}>
        <Textarea rows={2} maxLength={500} value={note} onChange={(event) => setNote(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
