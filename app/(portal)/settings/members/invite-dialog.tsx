'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { namespacesOf, type RoleChoice, RoleFields } from '../role-fields.tsx';

const lives = ['24', '168', '720'] as const;

/** Makes a one-time link; it is shown once, here. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const format = useFormat();
  const formId = useId();
  const [choice, setChoice] = useState<RoleChoice>({ role: 'operator', namespaces: '' });
  const [hours, setHours] = useState<string>('168');
  const create = useMutation(
    trpc.invitations.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
    }),
  );
  const problem = create.error === null ? undefined : explain(create.error);

  if (create.data !== undefined) {
    return (
      <Dialog
        open
        onOpenChange={onClose}
        title={t('settings:invite.done.title')}
        description={t('settings:invite.done.why', {
          time: format.dateTime(create.data.expiresAt, 'short'),
          role: t(`common:role.${choice.role}`),
        })}
        footer={
          <Button variant="primary" onClick={onClose}>
            {t('settings:done')}
          </Button>
        }
      >
        <CopyCommand whole command={create.data.link} />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('settings:invite.title')}
      description={t('settings:invite.why')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending}>
            {t('settings:invite.act')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ role: choice.role, namespaces: namespacesOf(choice), hours: Number(hours) });
        }}
      >
        <RoleFields value={choice} onChange={setChoice} error={faultAt(problem, '/namespaces')} />
        <Field label={t('settings:invite.hours')}>
          <Select
            value={hours}
            onChange={(event) => setHours(event.target.value)}
            options={lives.map((value) => ({ value, label: t(`settings:invite.hours.${value}`) }))}
          />
        </Field>
        {problem === undefined ? null : (
          <div role="alert">
            <FieldError>{problem.message}</FieldError>
          </div>
        )}
      </form>
    </Dialog>
  );
}
