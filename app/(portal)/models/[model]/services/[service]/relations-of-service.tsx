'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelationTable } from '../relation-table.tsx';
import { missingRelations, type ShownService } from '../service-data.ts';
import type { RelationsRead } from '../use-services.ts';

export interface RelationsOfServiceProps {
  model: string;
  service: ShownService;
  relations: RelationsRead;
}

/** The relations of a service, and those that it needs. */
export function RelationsOfService({ model, service, relations }: RelationsOfServiceProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const items = relations.data?.items.filter(({ endpoints }) =>
    endpoints.some((endpoint) => endpoint.service === service.name),
  );
  return (
    <Card className="mb-4" aria-labelledby="relations">
      <CardHeader
        id="relations"
        title={t('model.relations')}
        note={items === undefined ? undefined : format.number(items.length)}
      />
      {relations.error ? (
        <QueryError
          title={t(items === undefined ? 'model.relationsFailed' : 'model.relationsStale')}
          error={relations.error}
          onRetry={() => relations.refetch()}
          at={new Date(relations.errorUpdatedAt)}
        />
      ) : items === undefined ? (
        <SkeletonRows columns={['w-40', 'w-32', 'w-24']} rows={3} label={t('model.relationsLoading')} />
      ) : null}
      {items?.length === 0 ? (
        <EmptyState as="h3" title={t('service.noRelations.title')}>
          <p>{t(missingRelations(service).length > 0 ? 'service.noRelations.needed' : 'service.noRelations.why')}</p>
        </EmptyState>
      ) : null}
      {items === undefined || items.length === 0 ? null : <RelationTable model={model} relations={items} />}
    </Card>
  );
}
