'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { Token } from './token.ts';

/** Revokes a token after a confirmation. */
export function RevokeTokenDialog({ token, onClose }: { token: Token; onClose(): void }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const revoke = useMutation(trpc.tokens.revoke.mutationOptions());
  const name = token.name;
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('tokens.revoke.title', { name })}
      description={t('tokens.revoke.why')}
      confirmLabel={t('tokens.revoke.label', { name })}
      cancelLabel={t('tokens.revoke.keep')}
      error={revoke.error === null ? undefined : explain(revoke.error).message}
      onConfirm={async () => {
        await revoke.mutateAsync({ id: token.id });
        await queryClient.invalidateQueries(trpc.tokens.pathFilter());
        toast(t('tokens.revoke.done', { name }));
      }}
    />
  );
}
