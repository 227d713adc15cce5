'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { modelHref, type ShownModel } from '../../../model-data.ts';
import { takesServices } from '../service-acts.ts';
import type { ServiceDetails, ShownRecentRun, ShownRelation, ShownService } from '../service-data.ts';
import { useServiceActs } from '../use-service-acts.tsx';
import { type FirstRead, useRelations, useServices } from '../use-services.ts';
import { ServiceHead } from './service-head.tsx';
import { UnitsCard } from './units-card.tsx';

// Rendered by the server; their scripts follow the page's.
const ServiceNeedsCard = dynamic(() =>
  import('../needs/service-needs-card.tsx').then((module) => module.ServiceNeedsCard),
);
const RelationsCard = dynamic(() => import('../relations-card.tsx').then((module) => module.RelationsCard));
const RunsCard = dynamic(() => import('./runs-card.tsx').then((module) => module.RunsCard));
const SettingsCard = dynamic(() => import('./settings-card.tsx').then((module) => module.SettingsCard));
const WaveCard = dynamic(() => import('./wave-card.tsx').then((module) => module.WaveCard));

export interface ServicePageProps {
  model: ShownModel;
  service: string;
  /** The health of the units to show; undefined for all units. */
  health: VmHealth | undefined;
  /** What the server read at `readAt` (milliseconds since 1970); undefined if it could not read a part. */
  first: { items: ShownService[] };
  relations: FirstRead<ShownRelation>;
  details: ServiceDetails | undefined;
  runs: FirstRead<ShownRecentRun>;
  readAt: number;
}

/** One service, with live data. Each card fails independently. */
export function ServicePage({ model: firstModel, service: name, health, first, readAt, ...read }: ServicePageProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  // The model's revision and life decide which acts are possible.
  const { data: model } = useQuery({
    ...trpc.models.get.queryOptions({ model: firstModel.name }),
    ...{ initialData: firstModel, initialDataUpdatedAt: readAt, retry: false },
  });
  const acts = useServiceActs(model);
  const services = useServices({ model: model.name, service: name }, first, readAt);
  const relations = useRelations(model.name, read.relations, readAt);
  const details = useQuery({
    ...trpc.services.get.queryOptions({ model: model.name, service: name }),
    ...(read.details !== undefined && { initialData: read.details, initialDataUpdatedAt: readAt }),
    retry: false,
  });
  const isOperator = useReader().can('operator');
  const { error, data } = services;
  const service = data?.items[0];
  if (service === undefined || (error && problemOf(error).status === 404)) {
    return <ServiceGone model={model.name} name={name} />;
  }
  const may = isOperator && takesServices(model) && service.life === 'alive';
  return (
    <>
      <ServiceHead model={model} service={service} onAct={acts.act} />
      {error ? (
        <Card className="mb-4">
          <QueryError
            title={t('service.stale')}
            error={error}
            onRetry={services.refetch}
            at={new Date(services.errorUpdatedAt)}
          />
        </Card>
      ) : null}
      <ServiceNeedsCard model={model} services={[service]} service={name} onAct={acts.act} />
      <WaveCard
        model={model.name}
        service={service}
        onGoBack={may ? (version) => acts.act({ kind: 'upgrade', service, version }) : undefined}
      />
      <UnitsCard model={model} service={service} health={health} onAct={acts.act} />
      <RelationsCard
        model={model.name}
        service={service}
        relations={relations}
        onRelate={may ? () => acts.act({ kind: 'relate', service: name }) : undefined}
      />
      <SettingsCard details={details} />
      <RunsCard model={model.name} service={name} first={read.runs} readAt={readAt} />
      {acts.dialogs}
    </>
  );
}

/** Shown once the service is removed. */
function ServiceGone({ model, name }: { model: string; name: string }) {
  const { t } = useTranslation('services');
  return (
    <Card>
      <EmptyState
        as="h1"
        title={t('service.gone.title', { name })}
        actions={
          <Button asChild>
            <Link href={modelHref(model)}>{t('service.gone.act')}</Link>
          </Button>
        }
      >
        <p>{t('service.gone.why')}</p>
      </EmptyState>
    </Card>
  );
}
