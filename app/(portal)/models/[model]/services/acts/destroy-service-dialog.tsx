'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Name } from '#app/_ui/name.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import type { ShownService } from '../service-data.ts';
import { ForceRow } from './remove-unit-dialog.tsx';
import { useReloadServices } from './use-set-service.ts';

export interface DestroyServiceDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  service: ShownService;
}

/** Removes a service with its relations and units, after its name is typed. */
export function DestroyServiceDialog({ model, service, onClose }: DestroyServiceDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  const { name, units, life, endpoints } = service;
  const isBeingRemoved = life !== 'alive';
  const [isForced, setForced] = useState(isBeingRemoved);
  const remove = useMutation(trpc.services.remove.mutationOptions({ onSettled: reload }));
  const relations = endpoints.reduce((sum, endpoint) => sum + endpoint.relations, 0);
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('destroy.title', { name })} tags={{ name: <Name /> }} />}
      description={t(isForced ? 'destroy.force.why' : 'destroy.why')}
      confirmLabel={t(isForced ? 'destroy.force.act' : 'destroy.act')}
      phrase={name}
      onConfirm={() => remove.mutateAsync({ model: model.name, service: name, force: isForced })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      <ol className="grid list-decimal gap-1 ps-5 text-12 text-ink-2 marker:text-ink-3">
        {relations === 0 ? null : <li>{t('destroy.relations', { count: relations })}</li>}
        {units.length === 0 ? null : (
          <li>{t(model.availabilitySetsEnabled ? 'destroy.units.sets' : 'destroy.units', { count: units.length })}</li>
        )}
        <li>{t('destroy.settings')}</li>
      </ol>
      {isBeingRemoved || units.length === 0 ? null : <ForceRow checked={isForced} onChange={setForced} />}
    </ConfirmDialog>
  );
}
