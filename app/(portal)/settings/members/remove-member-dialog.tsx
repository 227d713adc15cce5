'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { Member } from './member.ts';

/** Removes a member after a confirmation. */
export function RemoveMemberDialog({ member, onClose }: { member: Member; onClose(): void }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const remove = useMutation(trpc.members.remove.mutationOptions());
  const name = member.name;
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('remove.title', { name })}
      description={t('remove.why')}
      confirmLabel={t('remove.act', { name })}
      cancelLabel={t('remove.keep')}
      error={remove.error === null ? undefined : explain(remove.error).message}
      onConfirm={async () => {
        await remove.mutateAsync({ id: member.id });
        await queryClient.invalidateQueries(trpc.members.pathFilter());
        toast(t('remove.done', { name }));
      }}
    />
  );
}
