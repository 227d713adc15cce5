'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { ConfirmationDialog } from '#app/(auth)/second-factor/confirmation-dialog.tsx';
import { FormDialog } from '../form-dialog.tsx';
import { namespacesOf, type RoleChoice, RoleFields } from '../role-fields.tsx';
import { ShownOnceDialog } from '../shown-once-dialog.tsx';

const lives = ['24', '168', '720'] as const;

/** Creates an invitation with a one-time link, which is shown only once. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const format = useFormat();
  const [choice, setChoice] = useState<RoleChoice>({ role: 'operator', namespaces: '' });
  const [hours, setHours] = useState<string>('168');
  const create = useMutation(
    trpc.invitations.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
    }),
  );
  const problem = create.error === null ? undefined : explain(create.error);

  if (problem?.code === 'confirmation_required') {
    return (
      <ConfirmationDialog
        why={t('settings:invite.confirm')}
        onDone={() => create.variables === undefined || create.mutate(create.variables)}
        onClose={onClose}
      />
    );
  }
  if (create.data !== undefined) {
    const time = format.dateTime(create.data.expiresAt, 'short');
    return (
      <ShownOnceDialog
        title={t('settings:invite.done.title')}
        description={t('settings:invite.done.why', { time, role: t(`common:role.${choice.role}`) })}
        value={create.data.link}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={t('settings:invite.title')}
      description={t('settings:invite.why')}
      act={t('settings:invite.act')}
      busy={create.isPending}
      onSubmit={() => create.mutate({ role: choice.role, namespaces: namespacesOf(choice), hours: Number(hours) })}
      onClose={onClose}
      error={problem?.message}
    >
      <RoleFields value={choice} onChange={setChoice} error={faultAt(problem, '/namespaces')} />
      <Field label={t('settings:invite.hours')}>
        <Select
          value={hours}
          onChange={(event) => setHours(event.target.value)}
          options={lives.map((value) => ({ value, label: t(`settings:invite.hours.${value}`) }))}
        />
      </Field>
    </FormDialog>
  );
}
