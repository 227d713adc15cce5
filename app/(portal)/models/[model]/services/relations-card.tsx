'use client';

import { Cable } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelationTable } from './relation-table.tsx';
import { missingRelations, type ShownService } from './service-data.ts';
import type { RelationsRead } from './use-services.ts';

/** Relations that the card shows at first, and that each request for more adds. */
const pageRelations = 100;

export interface RelationsCardProps {
  model: string;
  relations: RelationsRead;
  /** Only the relations of this service; without it, those of the model. */
  service?: ShownService;
  /** Undefined for readers who may not relate services. */
  onRelate: (() => void) | undefined;
}

/** The relations of a model or of a service. Fails independently of the services. */
export function RelationsCard({ model, relations, service, onRelate }: RelationsCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const [most, setMost] = useState(pageRelations);
  const items = relations.data?.items.filter(
    ({ endpoints }) => service === undefined || endpoints.some((endpoint) => endpoint.service === service.name),
  );
  const hidden = Math.max(0, (items?.length ?? 0) - most);
  return (
    <Card className="mb-4">
      <CardHeader
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
        <QueryError
          title={t(items === undefined ? 'model.relationsFailed' : 'model.relationsStale')}
          error={relations.error}
          onRetry={() => relations.refetch()}
          at={new Date(relations.errorUpdatedAt)}
        />
      ) : items === undefined ? (
        <SkeletonRows
          columns={['w-40', 'w-32', 'w-24']}
          rows={service === undefined ? 4 : 2}
          label={t('model.relationsLoading')}
        />
      ) : null}
      {items?.length === 0 ? <NoRelations service={service} /> : null}
      {items === undefined || items.length === 0 ? null : (
        <RelationTable model={model} relations={items.slice(0, most)} />
      )}
      {hidden === 0 ? null : (
        <div className="border-t border-line-subtle px-4 py-2.5">
          <Button onClick={() => setMost(most + pageRelations)}>
            {t('model.more', { count: Math.min(hidden, pageRelations), hidden: format.number(hidden) })}
          </Button>
        </div>
      )}
    </Card>
  );
}

function NoRelations({ service }: { service: ShownService | undefined }) {
  const { t } = useTranslation('services');
  const isNeeded = service !== undefined && missingRelations(service).length > 0;
  return (
    <EmptyState as="h3" title={t(service === undefined ? 'model.noRelations.title' : 'service.noRelations.title')}>
      <p>
        {t(
          service === undefined
            ? 'model.noRelations.why'
            : isNeeded
              ? 'service.noRelations.needed'
              : 'service.noRelations.why',
        )}
      </p>
    </EmptyState>
  );
}
