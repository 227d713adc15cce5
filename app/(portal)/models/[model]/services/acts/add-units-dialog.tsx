'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import type { ShownService } from '../service-data.ts';
import { PlacementField, placeOf } from './placement-field.tsx';
import { SlotField, slotOf } from './slot-field.tsx';
import { useReloadServices } from './use-set-service.ts';

export interface AddUnitsDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onAdded' | 'onClose'> {
  service: ShownService;
}

/** Adds units to a service. */
export function AddUnitsDialog({ model, service: { name, formula }, onAdded, onClose }: AddUnitsDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  const [placing, setPlacing] = useState({ count: '1', to: '' });
  const [staging, setStaging] = useState({ isStaged: false, version: '' });
  const add = useMutation(
    trpc.services.addUnits.mutationOptions({
      onSuccess: ({ units }) => {
        onAdded(units.flatMap(({ machine }) => machine ?? []));
        onClose();
      },
      onSettled: reload,
    }),
  );
  const count = Number(placing.count);
  return (
    <FormDialog
      title={t('addUnits.title', { name })}
      description={t(staging.isStaged ? 'addUnits.why.staged' : 'addUnits.why')}
      act={t('addUnits.act', { count })}
      busy={add.isPending}
      onEdit={() => forgetError(add)}
      onSubmit={() => add.mutate({ model: model.name, service: name, count, ...placeOf(placing), ...slotOf(staging) })}
      onClose={onClose}
      error={add.error === null ? undefined : explain(add.error).message}
    >
      <PlacementField model={model} value={placing} onChange={setPlacing} min={1} />
      {model.availabilitySetsEnabled ? <SlotField formula={formula} value={staging} onChange={setStaging} /> : null}
    </FormDialog>
  );
}
