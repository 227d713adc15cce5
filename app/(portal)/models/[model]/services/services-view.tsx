'use client';

import { Cable } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SearchInput } from '#app/_ui/input.tsx';
import { Skeleton, SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { ShownModel } from '../../model-data.ts';
import { RunsCard } from './[service]/runs-card.tsx';
import { ServiceNeedsCard } from './needs/service-needs-card.tsx';
import { ShownAs, useShownAs } from './picture/shown-as.tsx';
import { RelationTable } from './relation-table.tsx';
import { type ServiceAct, takesServices } from './service-acts.ts';
import { isServiceMatch, maxPictureServices, type ShownRelation, sortWorstFirst } from './service-data.ts';
import { ServiceMenu } from './service-menu.tsx';
import { ServiceTable } from './service-table.tsx';
import type { RelationsRead, ServicesRead } from './use-services.ts';

const ServicePicture = dynamic(() => import('./picture/service-picture.tsx').then((module) => module.ServicePicture), {
  ssr: false,
  loading: () => <Skeleton className="mx-4 mb-4 h-96" />,
});

/** Services that the table shows at first, and that each request for more adds. */
const pageServices = 100;

export interface ServicesViewProps {
  model: ShownModel;
  services: ServicesRead;
  relations: RelationsRead;
  /** What needs somebody among the machines. */
  needs: ReactNode;
  onAct(act: ServiceAct): void;
}

/** The services of a model with their units, and the relations between them. */
export function ServicesView({ model, services, relations, needs, onAct }: ServicesViewProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const [chosen, setShown] = useShownAs();
  const isOperator = useReader().can('operator');
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(pageServices);
  if (services.data === undefined || services.data.items.length === 0) {
    return (
      <>
        {needs}
        {services.data === undefined ? <NotLoaded services={services} /> : <NoServices model={model} onAct={onAct} />}
      </>
    );
  }
  const { items } = services.data;
  const shown = items.length > maxPictureServices ? 'table' : chosen;
  const found = sortWorstFirst(items).filter((service) => isServiceMatch(service, search));
  const hidden = Math.max(0, found.length - most);
  const may = isOperator && takesServices(model);
  return (
    <>
      <ServiceNeedsCard model={model} services={items} onAct={onAct} />
      {needs}
      <Card className="mb-4" aria-labelledby="services">
        <CardHeader
          id="services"
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
              {items.length > maxPictureServices ? (
                <span className="text-12 text-ink-3">{t('picture.tooMany', { count: maxPictureServices })}</span>
              ) : (
                <ShownAs value={shown} onChange={setShown} />
              )}
            </>
          }
        />
        {services.error ? <Stale title={t('model.servicesStale')} read={services} /> : null}
        {shown === 'picture' ? (
          <ServicePicture model={model.name} services={items} relations={relations.data?.items ?? []} />
        ) : found.length === 0 ? (
          <EmptyState
            as="h3"
            title={t('model.noMatch.title')}
            actions={<Button onClick={() => setSearch('')}>{t('model.noMatch.clear')}</Button>}
          >
            <p>{t('model.noMatch.why')}</p>
          </EmptyState>
        ) : (
          <ServiceTable
            model={model.name}
            services={found.slice(0, most)}
            relationsOf={countRelations(relations.data?.items ?? [])}
            menuOf={may ? (service) => <ServiceMenu service={service} onAct={onAct} /> : undefined}
          />
        )}
        {hidden === 0 || shown === 'picture' ? null : (
          <div className="border-t border-line-subtle px-4 py-2.5">
            <Button onClick={() => setMost(most + pageServices)}>
              {t('model.more', { count: Math.min(hidden, pageServices), hidden: format.number(hidden) })}
            </Button>
          </div>
        )}
      </Card>
      <RelationsCard
        model={model.name}
        relations={relations}
        onRelate={may ? () => onAct({ kind: 'relate' }) : undefined}
      />
      <RunsCard model={model.name} />
    </>
  );
}

/** Counts the relations of each service. */
function countRelations(relations: readonly ShownRelation[]): Map<string, number> {
  const services = relations.flatMap(({ endpoints }) => [...new Set(endpoints.map(({ service }) => service))]);
  return new Map([...Map.groupBy(services, (service) => service)].map(([service, all]) => [service, all.length]));
}

interface RelationsCardProps {
  model: string;
  relations: RelationsRead;
  /** Undefined for readers who may not relate services. */
  onRelate: (() => void) | undefined;
}

/** The relations of a model. Fails independently of the services. */
function RelationsCard({ model, relations, onRelate }: RelationsCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const items = relations.data?.items;
  return (
    <Card className="mb-4" aria-labelledby="relations">
      <CardHeader
        id="relations"
        title={t('model.relations')}
        note={items === undefined ? undefined : format.number(items.length)}
        actions={
          onRelate === undefined ? undefined : (
            <Button size="sm" onClick={onRelate}>
              <Cable aria-hidden />
              {t('act.relate')}
            </Button>
          )
        }
      />
      {relations.error ? (
        <Stale title={t(items === undefined ? 'model.relationsFailed' : 'model.relationsStale')} read={relations} />
      ) : items === undefined ? (
        <SkeletonRows columns={['w-40', 'w-32', 'w-24']} rows={3} label={t('model.relationsLoading')} />
      ) : null}
      {items?.length === 0 ? (
        <EmptyState as="h3" title={t('model.noRelations.title')}>
          <p>{t('model.noRelations.why')}</p>
        </EmptyState>
      ) : null}
      {items === undefined || items.length === 0 ? null : <RelationTable model={model} relations={items} />}
    </Card>
  );
}

interface StaleProps {
  title: string;
  read: Pick<ServicesRead, 'error' | 'errorUpdatedAt'> & { refetch(): unknown };
}

function Stale({ title, read }: StaleProps) {
  return (
    <QueryError title={title} error={read.error} onRetry={() => read.refetch()} at={new Date(read.errorUpdatedAt)} />
  );
}

function NotLoaded({ services }: { services: ServicesRead }) {
  const { t } = useTranslation('services');
  return (
    <Card>
      {services.error ? (
        <Stale title={t('model.servicesFailed')} read={services} />
      ) : (
        <SkeletonRows columns={['w-40', 'w-64', 'w-24']} rows={6} label={t('model.servicesLoading')} />
      )}
    </Card>
  );
}

/** Says what a service is, and how the first one is deployed. */
function NoServices({ model, onAct }: Pick<ServicesViewProps, 'model' | 'onAct'>) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  const isOpen = model.life === 'alive' && model.bootstrappedAt !== null;
  return (
    <Card>
      <EmptyState
        title={t('model.empty.title')}
        actions={
          may && isOpen ? <Button onClick={() => onAct({ kind: 'deploy' })}>{t('act.deploy')}</Button> : undefined
        }
      >
        <p>{t('model.empty.what')}</p>
        <p>{t(!may ? 'model.empty.viewer' : isOpen ? 'model.empty.how' : 'model.empty.bootstrap')}</p>
      </EmptyState>
    </Card>
  );
}
