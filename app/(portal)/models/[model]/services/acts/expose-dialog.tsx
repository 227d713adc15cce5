'use client';

import { useQuery } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Name } from '#app/_ui/name.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import { addressesOf, portsOf, type ShownService } from '../service-data.ts';
import { useSetService } from './use-set-service.ts';

export interface ExposeDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  service: ShownService;
}

/** Exposes a service's ports at the public address, or stops exposing them. */
export function ExposeDialog({ model, service, onClose }: ExposeDialogProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const trpc = useTRPC();
  const explain = useProblem();
  const topology = useQuery(trpc.models.topology.queryOptions({ model: model.name }));
  // The service as it was when the dialog opened: the dialog does not turn into its opposite when the change arrives.
  const { name, formula, version, exposed } = service;
  const set = useSetService({ onDone: () => {} });
  const ports = portsOf(service);
  const of = exposed ? 'hide' : 'expose';
  return (
    <ConfirmDialog
      open
      tone={exposed ? 'danger' : 'default'}
      onOpenChange={onClose}
      title={<Trans text={t(`${of}.title`, { name })} tags={{ name: <Name /> }} />}
      description={t(`${of}.why`)}
      confirmLabel={t(`${of}.act`)}
      onConfirm={() =>
        set.mutateAsync({
          model: model.name,
          service: name,
          formula,
          version,
          exposed: !exposed,
          ifMatch: model.revision,
        })
      }
      error={set.error === null ? undefined : explain(set.error).message}
    >
      <ul className="grid gap-1 text-12 text-ink-2">
        <li>
          {ports.length === 0
            ? t(`${of}.noPorts`)
            : t(`${of}.ports`, {
                count: ports.length,
                ports: format.list(ports),
                addresses: format.list(addressesOf(service)),
              })}
        </li>
        {!exposed && topology.data?.proxy === 'off' ? <li>{t('expose.proxyOff')}</li> : null}
      </ul>
    </ConfirmDialog>
  );
}
