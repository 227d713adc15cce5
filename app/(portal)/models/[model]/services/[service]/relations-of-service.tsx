'use client';

import { Cable } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { ShownModel } from '../../../model-data.ts';
import { RelationTable } from '../relation-table.tsx';
import { type ServiceAct, takesServices } from '../service-acts.ts';
import { missingRelations, type ShownService } from '../service-data.ts';
import type { RelationsRead } from '../use-services.ts';

export interface RelationsOfServiceProps {
  model: ShownModel;
  service: ShownService;
  relations: RelationsRead;
  onAct(act: ServiceAct): void;
}

/** The relations of a service, and those that it needs. */
export function RelationsOfService({ model, service, relations, onAct }: RelationsOfServiceProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const may = useReader().can('operator') && takesServices(model) && service.life === 'alive';
  const items = relations.data?.items.filter(({ endpoints }) =>
    endpoints.some((endpoint) => endpoint.service === service.name),
  );
  return (
    <Card className="mb-4" aria-labelledby="relations">
      <CardHeader
        id="relations"
        title={t('model.relations')}
        note={items === undefined ? undefined : format.number(items.length)}
        actions={
          may ? (
            <Button size="sm" onClick={() => onAct({ kind: 'relate', service: service.name })}>
              <Cable aria-hidden />
              {t('act.relate')}
            </Button>
          ) : undefined
        }
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
      {items === undefined || items.length === 0 ? null : <RelationTable model={model.name} relations={items} />}
    </Card>
  );
}
