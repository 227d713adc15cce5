'use client';

import { useMutation } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { ShownUnitDetails } from '../unit-data.ts';

export interface EnrollDialogProps {
  unit: ShownUnitDetails;
  onClose(): void;
}

/** Creates a new enrollment command for the machine of a unit, and shows it once. */
export function EnrollDialog({ unit: { vm, vmId }, onClose }: EnrollDialogProps) {
  const { t } = useTranslation(['models', 'common']);
  const trpc = useTRPC();
  const explain = useProblem();
  const renew = useMutation(trpc.topology.renewToken.mutationOptions());
  const isDone = renew.data !== undefined;
  return (
    <Dialog
      open
      size={isDone ? 'wide' : 'default'}
      onOpenChange={onClose}
      title={t('models:renew.token.title', { name: vm })}
      description={t(isDone ? 'models:renew.token.done' : 'models:renew.token.why')}
      footer={
        isDone ? (
          <Button variant="primary" onClick={onClose}>
            {t('models:added.done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('common:cancel')}</Button>
            <Button variant="primary" busy={renew.isPending} onClick={() => renew.mutate({ vmId })}>
              {t('models:renew.token.act')}
            </Button>
          </>
        )
      }
    >
      {renew.data === undefined ? null : <CopyCommand whole command={renew.data.command} />}
      {renew.error === null ? null : (
        <div role="alert">
          <FieldError>{explain(renew.error).message}</FieldError>
        </div>
      )}
    </Dialog>
  );
}
