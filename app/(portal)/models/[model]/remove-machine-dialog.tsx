'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Name } from '#app/_ui/name.tsx';
import type { ShownRole } from '../model-data.ts';
import type { ModelDialogsProps } from './model-acts.ts';

export interface RemoveMachineDialogProps extends Pick<ModelDialogsProps, 'model' | 'onClose'> {
  role: ShownRole;
}

/** Removes a machine. If it is being removed already, deletes it without waiting for its agent. */
export function RemoveMachineDialog({ model: { name: model }, role, onClose }: RemoveMachineDialogProps) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const isBeingRemoved = role.state === 'deleting';
  const [isForced, setForced] = useState(isBeingRemoved);
  const remove = useMutation(
    trpc.models.removeMachine.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('remove.title', { name: role.vm })} tags={{ name: <Name /> }} />}
      description={t(isForced ? 'remove.force.why' : 'remove.why')}
      confirmLabel={t(isForced ? 'act.removeForce.label' : 'act.remove.label')}
      onConfirm={() => remove.mutateAsync({ model, machine: role.machine, force: isForced })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      {isBeingRemoved ? null : (
        <ControlRow
          control={<Checkbox checked={isForced} onCheckedChange={(checked) => setForced(checked === true)} />}
          hint={t('remove.force.hint')}
        >
          {t('remove.force')}
        </ControlRow>
      )}
    </ConfirmDialog>
  );
}
