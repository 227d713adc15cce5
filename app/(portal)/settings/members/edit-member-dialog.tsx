'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { namespacesOf, type RoleChoice, RoleFields } from '../role-fields.tsx';
import type { Member } from './member.ts';

/** Another role for a member; it counts from their next act on. */
export function EditMemberDialog({ member, onClose }: { member: Member; onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const formId = useId();
  const [choice, setChoice] = useState<RoleChoice>({ role: member.role, namespaces: member.namespaces.join(', ') });
  const update = useMutation(
    trpc.members.update.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.members.pathFilter());
        toast(t('settings:edit.done', { name: member.name, role: t(`common:role.${choice.role}`) }));
        onClose();
      },
    }),
  );
  const problem = update.error === null ? undefined : explain(update.error);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('settings:edit.title', { name: member.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={update.isPending}>
            {t('settings:edit.act')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ id: member.id, role: choice.role, namespaces: namespacesOf(choice) });
        }}
      >
        <RoleFields value={choice} onChange={setChoice} error={faultAt(problem, '/namespaces')} />
        {problem === undefined ? null : (
          <div role="alert">
            <FieldError>{problem.message}</FieldError>
          </div>
        )}
      </form>
    </Dialog>
  );
}
