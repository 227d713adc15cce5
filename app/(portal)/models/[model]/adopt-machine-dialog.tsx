'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { ModelDialogsProps } from './model-acts.ts';

/** Adopts an enrolled VM as a machine of a model without availability sets. */
export function AdoptMachineDialog({ model: { name }, onClose }: Pick<ModelDialogsProps, 'model' | 'onClose'>) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const listId = useId();
  const [vm, setVm] = useState('');
  const [address, setAddress] = useState('');
  const { data, error, isPlaceholderData } = useQuery({
    ...trpc.finds.things.queryOptions({ q: vm }),
    ...{ enabled: vm !== '', placeholderData: keepPreviousData },
  });
  const found = data?.vms.find((one) => one.name === vm);
  const isUnknown = vm !== '' && !isPlaceholderData && data?.vms.length === 0;
  const adopt = useMutation(
    trpc.models.adoptMachine.mutationOptions({
      onSuccess: onClose,
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  const failed = adopt.error ?? error;
  const problem = failed === null ? undefined : explain(failed);
  const addressFault =
    faultAt(problem, '/address') === undefined ? undefined : t('adopt.address.outside', { model: name });
  return (
    <FormDialog
      title={t('adopt.title', { model: name })}
      description={t('adopt.why')}
      act={t('adopt.act')}
      busy={adopt.isPending}
      isIdle={found === undefined}
      onSubmit={() => {
        if (found === undefined) return;
        adopt.mutate({ model: name, vmId: found.id, ...(address.trim() !== '' && { address: address.trim() }) });
      }}
      onEdit={adopt.reset}
      onClose={onClose}
      error={addressFault === undefined ? problem?.message : undefined}
    >
      <Field label={t('adopt.vm')} hint={t(isUnknown ? 'adopt.vm.none' : 'adopt.vm.hint')}>
        <Input required list={listId} translate="no" value={vm} onChange={(event) => setVm(event.target.value)} />
      </Field>
      <datalist id={listId} translate="no">
        {(data?.vms ?? []).map(({ id, name: each }) => (
          <option key={id} value={each} />
        ))}
      </datalist>
      <Field label={t('adopt.address')} hint={t('adopt.address.hint')} error={addressFault}>
        <Input mono translate="no" value={address} onChange={(event) => setAddress(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
