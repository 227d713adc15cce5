'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { HealthFilter, NoMatch } from './no-services.tsx';
import { ShownAs, useShownAs } from './picture/shown-as.tsx';
import type { ServiceAct } from './service-acts.ts';
import { isServiceMatch, type ShownRelation, type ShownService, sortWorstFirst } from './service-data.ts';
import { ServiceMenu } from './service-menu.tsx';
import { ServiceTable } from './service-table.tsx';
import type { RelationsRead, ServicesRead } from './use-services.ts';

const ServicePicture = dynamic(() => import('./picture/service-picture.tsx').then((module) => module.ServicePicture), {
  ssr: false,
  loading: PicturePlace,
});

/** Services that the table shows at first, and that each request for more adds. */
const pageServices = 100;

export interface ServicesCardProps {
  model: string;
  services: ServicesRead;
  relations: RelationsRead;
  health: VmHealth | undefined;
  /** Undefined for readers who may not change services. */
  onAct: ((act: ServiceAct) => void) | undefined;
}

/** The services of a model as a table or as a picture. */
export function ServicesCard({ model, services, relations, health, onAct }: ServicesCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const isOperator = useReader().can('operator');
  const [chosen, setShown] = useShownAs();
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(pageServices);
  const items = services.data?.items ?? [];
  const shown = health !== undefined ? 'table' : chosen;
  const ofHealth = items.filter(({ units }) => health === undefined || units.some((unit) => unit.health === health));
  const found = sortWorstFirst(ofHealth).filter((service) => isServiceMatch(service, search));
  const hidden = shown === 'picture' ? 0 : Math.max(0, found.length - most);
  return (
    <Card className="mb-4">
      <CardHeader
        title={t('model.services')}
        note={isOperator ? format.number(items.length) : t('may.viewer', { count: items.length })}
        actions={
          <>
            {items.length > 1 && shown === 'table' ? (
              <SearchInput
                label={t('model.search')}
                value={search}
                maxLength={200}
                onChange={(event) => setSearch(event.target.value)}
              />
            ) : null}
            {health !== undefined ? (
              <HealthFilter model={model} health={health} />
            ) : (
              <ShownAs value={shown} onChange={setShown} />
            )}
          </>
        }
      />
      {services.error ? (
        <QueryError
          title={t('model.servicesStale')}
          error={services.error}
          onRetry={() => services.refetch()}
          at={new Date(services.errorUpdatedAt)}
        />
      ) : null}
      {shown === 'picture' ? (
        <Picture model={model} services={items} relations={relations} />
      ) : found.length === 0 ? (
        <NoMatch model={model} onClear={search === '' ? undefined : () => setSearch('')} />
      ) : (
        <ServiceTable
          model={model}
          services={found.slice(0, most)}
          relationsOf={relations.data && countRelations(relations.data.items)}
          menuOf={onAct === undefined ? undefined : (service) => <ServiceMenu service={service} onAct={onAct} />}
        />
      )}
      {hidden === 0 ? null : (
        <div className="border-t border-line-subtle px-4 py-2.5">
          <Button onClick={() => setMost(most + pageServices)}>
            {t('model.more', { count: Math.min(hidden, pageServices), hidden: format.number(hidden) })}
          </Button>
        </div>
      )}
    </Card>
  );
}

interface PictureProps extends Pick<ServicesCardProps, 'model' | 'relations'> {
  services: readonly ShownService[];
}

/** The picture. It waits for the relations; if they did not load, it shows the services alone. */
function Picture({ model, services, relations: { data, error } }: PictureProps) {
  if (data === undefined && error === null) return <PicturePlace />;
  return <ServicePicture model={model} services={services} relations={data?.items ?? []} />;
}

/** The place of the picture while it loads. */
function PicturePlace() {
  return <Skeleton className="mx-4 mb-4 h-[30.5rem] w-auto" />;
}

/** Counts the relations of each service. */
function countRelations(relations: readonly ShownRelation[]): Map<string, number> {
  const services = relations.flatMap(({ endpoints }) => [...new Set(endpoints.map(({ service }) => service))]);
  return new Map([...Map.groupBy(services, (service) => service)].map(([service, all]) => [service, all.length]));
}
