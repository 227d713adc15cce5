'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { ShownRole } from '../model-data.ts';

export interface RenewDialogProps {
  what: 'token' | 'password';
  role: ShownRole;
  onClose(): void;
}

/** Replaces the enrollment command or the password of a machine, and shows the new one once. */
export function RenewDialog({ what, role, onClose }: RenewDialogProps) {
  const { t } = useTranslation(['models', 'common']);
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const explain = useProblem();
  const renew = useMutation({
    mutationFn: async () =>
      what === 'token'
        ? (await client.topology.renewToken.mutate({ vmId: role.vmId })).command
        : (await client.topology.renewPassword.mutate({ instance: role.id })).password,
    onSuccess: () => queries.invalidateQueries(trpc.models.pathFilter()),
  });
  const isDone = renew.data !== undefined;
  return (
    <Dialog
      open
      size={isDone && what === 'token' ? 'wide' : 'default'}
      onOpenChange={onClose}
      title={t(`models:renew.${what}.title`, { name: role.vm })}
      description={t(isDone ? `models:renew.${what}.done` : `models:renew.${what}.why`)}
      footer={
        isDone ? (
          <Button variant="primary" onClick={onClose}>
            {t('models:added.done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('common:cancel')}</Button>
            <Button variant="primary" busy={renew.isPending} onClick={() => renew.mutate()}>
              {t(`models:renew.${what}.act`)}
            </Button>
          </>
        )
      }
    >
      {renew.data === undefined ? null : <CopyCommand whole command={renew.data} />}
      {renew.error === null ? null : (
        <div role="alert">
          <FieldError>{explain(renew.error).message}</FieldError>
        </div>
      )}
    </Dialog>
  );
}
