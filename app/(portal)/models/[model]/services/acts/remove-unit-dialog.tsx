'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Name } from '#app/_ui/name.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import type { ShownUnit } from '../service-data.ts';
import { useReloadServices } from './use-set-service.ts';

export interface RemoveOneUnitProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  unit: Pick<ShownUnit, 'unit' | 'life'>;
}

/** Removes one unit. If it is being removed already, removes it without waiting for its agent. */
export function RemoveUnitDialog({ model, unit: { unit, life }, onClose }: RemoveOneUnitProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  const isBeingRemoved = life !== 'alive';
  const [isForced, setForced] = useState(isBeingRemoved);
  const remove = useMutation(trpc.units.remove.mutationOptions({ onSettled: reload }));
  const why = model.availabilitySetsEnabled ? 'removeUnit.why.sets' : 'removeUnit.why';
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('removeUnit.title', { name: unit })} tags={{ name: <Name /> }} />}
      description={t(isForced ? 'removeUnit.force.why' : why)}
      confirmLabel={t(isForced ? 'removeUnit.force.act' : 'removeUnit.act')}
      onConfirm={() => remove.mutateAsync({ model: model.name, unit, force: isForced })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      {isBeingRemoved ? null : <ForceRow checked={isForced} onChange={setForced} />}
    </ConfirmDialog>
  );
}

/** Whether to remove units without waiting for their agents. */
export function ForceRow({ checked, onChange }: { checked: boolean; onChange(checked: boolean): void }) {
  const { t } = useTranslation('services');
  return (
    <ControlRow
      control={<Checkbox checked={checked} onCheckedChange={(is) => onChange(is === true)} />}
      hint={t('removeUnit.force.hint')}
    >
      {t('removeUnit.force')}
    </ControlRow>
  );
}
