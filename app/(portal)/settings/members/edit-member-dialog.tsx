'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import { FormDialog } from '../form-dialog.tsx';
import { type RoleChoice, RoleFields } from '../role-fields.tsx';
import { useNewNamespace } from '../use-new-namespace.ts';
import type { Member } from './member.ts';

/** Changes a member's role. The new role applies to the member's next request. */
export function EditMemberDialog({ member, onClose }: { member: Member; onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [choice, setChoice] = useState<RoleChoice>({
    role: member.role,
    namespaces: member.namespaces,
    added: undefined,
    scripts: member.scripts,
  });
  const update = useMutation(
    trpc.members.update.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.members.pathFilter());
        toast(t('settings:edit.done', { name: member.name, role: t(`common:role.${choice.role}`) }));
        onClose();
      },
    }),
  );
  const { creation, saveAfter } = useNewNamespace(choice, setChoice);
  const error = creation.error ?? update.error;
  const problem = error === null ? undefined : explain(error);
  return (
    <FormDialog
      title={t('settings:edit.title', { name: member.name })}
      {...(member.role === 'admin' ? { description: t('settings:edit.why') } : {})}
      act={t('settings:edit.act')}
      busy={creation.isPending || update.isPending}
      onEdit={() => {
        forgetError(creation);
        forgetError(update);
      }}
      onSubmit={() =>
        saveAfter((namespaces) =>
          update.mutate({
            id: member.id,
            role: choice.role,
            namespaces,
            scripts: choice.scripts,
          }),
        )
      }
      onClose={onClose}
      error={problem?.message}
    >
      <RoleFields
        value={choice}
        onChange={setChoice}
        error={faultAt(problem, '/namespaces') ?? faultAt(problem, '/namespace')}
      />
    </FormDialog>
  );
}
