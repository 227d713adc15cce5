'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { endpointPairs, endpointText, type ShownPair } from '../endpoint-pairs.ts';
import { missingRelations, type ShownService } from '../service-data.ts';
import { useReloadServices } from './use-set-service.ts';

export interface RelateDialogProps {
  model: string;
  /** Only pairs of this service, and of this endpoint. */
  service: string | undefined;
  endpoint: string | undefined;
  onDeploy(): void;
  onClose(): void;
}

/** Relates two services: offers the endpoints that match, or says which service is missing. */
export function RelateDialog(props: RelateDialogProps) {
  const { model, service, endpoint, onClose } = props;
  const { t } = useTranslation(['services', 'common']);
  const trpc = useTRPC();
  const services = useQuery(trpc.services.states.queryOptions({ model }));
  const relations = useQuery(trpc.relations.list.queryOptions({ model }));
  if (services.data !== undefined && relations.data !== undefined) {
    const pairs = endpointPairs(services.data.items, relations.data.items).filter(
      ({ requires, provides }) =>
        service === undefined ||
        (requires.service === service && (endpoint === undefined || requires.name === endpoint)) ||
        (provides.service === service && endpoint === undefined),
    );
    return pairs.length === 0 ? (
      <NoPairs {...props} services={services.data.items} />
    ) : (
      <PairForm model={model} service={service} pairs={pairs} onClose={onClose} />
    );
  }
  const failed = [services, relations].find(({ error }) => error);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={service === undefined ? t('services:relate.title') : t('services:relate.titleOf', { name: service })}
    >
      {failed === undefined ? (
        <SkeletonRows columns={['w-40', 'w-40']} rows={7} label={t('services:model.servicesLoading')} />
      ) : (
        <QueryError
          title={t(failed === services ? 'services:model.servicesFailed' : 'services:model.relationsFailed')}
          error={failed.error}
          onRetry={() => failed.refetch()}
          at={new Date(failed.errorUpdatedAt)}
        />
      )}
    </Dialog>
  );
}

interface PairFormProps extends Pick<RelateDialogProps, 'model' | 'service' | 'onClose'> {
  pairs: readonly ShownPair[];
}

function PairForm({ model, service, pairs: given, onClose }: PairFormProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const reload = useReloadServices();
  // The pairs as they were when the dialog opened: the chosen one must not disappear once it is related.
  const [pairs] = useState(given);
  const [from, setFrom] = useState(() => endpointText((pairs[0] as ShownPair).requires));
  const [to, setTo] = useState('');
  const relate = useMutation(trpc.relations.add.mutationOptions({ onSuccess: onClose, onSettled: reload }));
  const required = [...new Map(pairs.map((pair) => [endpointText(pair.requires), pair])).values()];
  const matching = pairs.filter(({ requires }) => endpointText(requires) === from);
  const chosen = matching.find(({ provides }) => endpointText(provides) === to) ?? matching[0];
  return (
    <FormDialog
      title={service === undefined ? t('relate.title') : t('relate.titleOf', { name: service })}
      description={t('relate.why')}
      act={t('relate.act')}
      busy={relate.isPending}
      onEdit={() => forgetError(relate)}
      onSubmit={() => {
        if (chosen !== undefined) {
          relate.mutate({ model, endpoints: [endpointText(chosen.requires), endpointText(chosen.provides)] });
        }
      }}
      onClose={onClose}
      error={relate.error === null ? undefined : explain(relate.error).message}
    >
      <Field label={t('column.requires')} hint={t(chosen?.optional ? 'relate.optional' : 'relate.required')}>
        <Select
          mono
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          options={required.map((pair) => ({
            value: endpointText(pair.requires),
            label: `${endpointText(pair.requires)} (${pair.interface})`,
            isName: true,
          }))}
        />
      </Field>
      <Field label={t('column.provides')} hint={t('relate.matching', { count: matching.length })}>
        <Select
          mono
          value={chosen === undefined ? '' : endpointText(chosen.provides)}
          onChange={(event) => setTo(event.target.value)}
          options={matching.map(({ provides }) => ({
            value: endpointText(provides),
            label: endpointText(provides),
            isName: true,
          }))}
        />
      </Field>
    </FormDialog>
  );
}

/** Says which interfaces are missing in the model. */
function NoPairs({
  service,
  endpoint,
  services,
  onDeploy,
  onClose,
}: RelateDialogProps & { services: readonly ShownService[] }) {
  const { t } = useTranslation(['services', 'common']);
  const format = useFormat();
  const needs = services
    .filter(({ name }) => service === undefined || name === service)
    .flatMap((one) => missingRelations(one))
    .filter(({ name }) => endpoint === undefined || name === endpoint)
    .map((one) => one.interface);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={service === undefined ? t('services:relate.title') : t('services:relate.titleOf', { name: service })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:close')}</Button>
          <Button variant="primary" onClick={onDeploy}>
            {t('services:act.deploy')}
          </Button>
        </>
      }
    >
      <p className="text-pretty text-ink-2">
        {needs.length === 0
          ? t('services:relate.none')
          : t('services:relate.noProvider', {
              interfaces: format.list([...new Set(needs)]),
              count: new Set(needs).size,
            })}
      </p>
    </Dialog>
  );
}
