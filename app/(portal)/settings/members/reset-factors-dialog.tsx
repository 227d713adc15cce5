'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { Member } from './member.ts';

/** Resets the second factor of a member who lost it, after a confirmation. */
export function ResetFactorsDialog({ member, onClose }: { member: Member; onClose(): void }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const reset = useMutation(trpc.members.resetFactors.mutationOptions());
  const name = member.name;
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('reset.title', { name })}
      description={t('reset.why')}
      confirmLabel={t('reset.act')}
      error={reset.error === null ? undefined : explain(reset.error).message}
      onConfirm={async () => {
        await reset.mutateAsync({ id: member.id });
        await queryClient.invalidateQueries(trpc.members.pathFilter());
        toast(t('reset.done', { name }));
      }}
    />
  );
}
