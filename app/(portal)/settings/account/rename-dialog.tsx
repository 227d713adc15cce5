'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '../form-dialog.tsx';

/** Changes the reader's name. */
export function RenameDialog({ name: before, onClose }: { name: string; onClose(): void }) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const explain = useProblem();
  const [name, setName] = useState(before);
  const rename = useMutation(
    trpc.account.rename.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.account.pathFilter());
        // The account menu shows the name too.
        router.refresh();
        onClose();
      },
    }),
  );
  const problem = rename.error === null ? undefined : explain(rename.error);
  const nameError = faultAt(problem, '/name');
  return (
    <FormDialog
      title={t('name.change')}
      act={t('name.act')}
      busy={rename.isPending}
      onEdit={() => forgetError(rename)}
      onSubmit={() => rename.mutate({ name })}
      onClose={onClose}
      error={nameError === undefined ? problem?.message : undefined}
    >
      <Field label={t('name')} hint={t('name.hint')} error={nameError}>
        <Input
          required
          autoComplete="name"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
