'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { Boxes, Lock, ShieldCheck, Waypoints } from 'lucide-react';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { VmFacts } from '../vm-data.ts';
import { type AdoptingModel, obstacleOf, onlyChoice } from './adopting.ts';
import { ThenList } from './then-list.tsx';
import { useInvalidateRole } from './use-invalidate-role.ts';

interface AdoptDialogProps {
  facts: Pick<VmFacts, 'id' | 'name'>;
  onClose(): void;
}

/** Adopts an enrolled VM as a machine of a model without availability sets. Says what that changes, and what stays. */
export function AdoptDialog(props: AdoptDialogProps) {
  return (
    <WordsOnDemand namespaces={['services']} onFailed={props.onClose}>
      <AdoptForm {...props} />
    </WordsOnDemand>
  );
}

function AdoptForm({ facts: { id: vmId, name: vm }, onClose }: AdoptDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const models = useQuery(trpc.models.list.queryOptions());
  const [chosen, setChosen] = useState('');
  const [address, setAddress] = useState('');
  const items = models.data?.items ?? [];
  const model = chosen || (onlyChoice(items) ?? '');
  const adopt = useMutation(
    trpc.models.adoptMachine.mutationOptions({
      onSuccess: ({ machine }) => {
        toast(t('adopt.done', { vm, machine, model }));
        onClose();
      },
      onSettled: useInvalidateRole(),
    }),
  );
  const problem = adopt.error === null ? undefined : explain(adopt.error);
  const addressFault = faultAt(problem, '/address') === undefined ? undefined : t('adopt.address.outside', { model });
  const takesNone = models.data !== undefined && items.every((one) => obstacleOf(one) !== null);
  return (
    <FormDialog
      title={t('adopt.into.title', { vm })}
      act={t('adopt.act')}
      busy={adopt.isPending}
      isIdle={model === ''}
      onSubmit={() => adopt.mutate({ model, vmId, ...(address.trim() !== '' && { address: address.trim() }) })}
      onEdit={() => forgetError(adopt)}
      onClose={onClose}
      error={addressFault === undefined ? problem?.message : undefined}
    >
      {models.error ? (
        <QueryError
          title={t('adopt.failed')}
          error={models.error}
          onRetry={models.refetch}
          at={new Date(models.errorUpdatedAt)}
        />
      ) : models.data === undefined ? (
        <div role="status" aria-busy="true" aria-label={t('adopt.loading')}>
          <Skeleton className="h-8 w-full" />
        </div>
      ) : takesNone ? (
        <NoModel />
      ) : (
        <>
          <ModelChoice models={items} model={model} onChoose={setChosen} />
          <Field label={t('adopt.address')} hint={t('adopt.address.hint')} error={addressFault}>
            <Input
              mono
              inputMode="decimal"
              autoComplete="off"
              translate="no"
              value={address}
              onChange={(event) => setAddress(event.target.value)}
            />
          </Field>
          {model === '' ? (
            <p className="text-12 text-pretty text-ink-2">{t('adopt.why')}</p>
          ) : (
            <Consequences model={model} />
          )}
        </>
      )}
    </FormDialog>
  );
}

interface ModelChoiceProps {
  models: readonly AdoptingModel[];
  model: string;
  onChoose(model: string): void;
}

/** Shows every model, those that do not take the VM with the reason. */
function ModelChoice({ models, model, onChoose }: ModelChoiceProps) {
  const { t } = useTranslation('services');
  const options = models.map((one) => {
    const obstacle = obstacleOf(one);
    if (obstacle === null) return { value: one.name, label: one.name, isName: true };
    return { value: one.name, label: t(`adopt.not.${obstacle}`, { model: one.name }), disabled: true };
  });
  const hasChosen = model !== '';
  return (
    <Field label={t('adopt.into.model')}>
      <Select
        required
        value={model}
        options={hasChosen ? options : [{ value: '', label: t('adopt.into.choose') }, ...options]}
        onChange={(event) => onChoose(event.target.value)}
      />
    </Field>
  );
}

function NoModel() {
  const { t } = useTranslation('services');
  return (
    <p className="text-pretty text-ink-2">
      {t('adopt.into.none')} <TextLink href="/models">{t('adopt.into.models')}</TextLink>
    </p>
  );
}

function Consequences({ model }: { model: string }) {
  const { t } = useTranslation('services');
  return (
    <ThenList
      items={[
        { icon: <Waypoints aria-hidden />, text: t('adopt.then.machine', { model }) },
        { icon: <Boxes aria-hidden />, text: t('adopt.then.units', { model }) },
        { icon: <ShieldCheck aria-hidden />, text: t('adopt.then.stays') },
        { icon: <Lock aria-hidden />, text: t('adopt.then.delete') },
      ]}
    />
  );
}
