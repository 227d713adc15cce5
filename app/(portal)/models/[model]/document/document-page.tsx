'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { Skeleton, SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { type ShownModel, servicesHref } from '../../model-data.ts';
import { ModelTabs } from '../model-tabs.tsx';
import type { ShownModelDocument } from './document-data.ts';
import { DocumentEditor } from './document-editor.tsx';

export interface DocumentPageProps {
  /** What the server read at `readAt` (milliseconds since 1970); undefined if it could not read the document. */
  first: ShownModel;
  document: ShownModelDocument | undefined;
  /** Number of services; undefined if the server could not read it. */
  services: number | undefined;
  readAt: number;
}

/** A model as one document, with the plan of its changes beside it. */
export function DocumentPage({ first, document, services, readAt }: DocumentPageProps) {
  const trpc = useTRPC();
  const reader = useReader();
  const { name } = first;
  const { data: model } = useQuery({
    ...trpc.models.get.queryOptions({ model: name }),
    ...{ initialData: first, initialDataUpdatedAt: readAt, retry: false },
  });
  return (
    <>
      <Head model={model} />
      <ModelTabs model={name} current="document" services={services} />
      {reader.can('operator') ? (
        <LiveDocument model={model} document={document} readAt={readAt} />
      ) : (
        <ForOperators model={name} />
      )}
    </>
  );
}

function Head({ model }: { model: ShownModel }) {
  const { t } = useTranslation(['models', 'services']);
  const format = useFormat();
  const { name, life, location, availabilitySetsEnabled, machines, revision } = model;
  return (
    <PageHeader
      title={<span translate="no">{name}</span>}
      badge={
        life === 'alive' ? undefined : (
          <StatusBadge size="lg" status="progressing">
            {t('models:head.destroying')}
          </StatusBadge>
        )
      }
    >
      <Facts
        items={[
          { label: t('models:column.machines'), value: format.number(machines) },
          { label: t('models:column.location'), value: <span translate="no">{location}</span> },
          { label: t('models:mode'), value: t(availabilitySetsEnabled ? 'models:mode.on' : 'models:mode.off') },
          { label: t('services:document.revision'), value: format.number(revision) },
        ]}
      />
    </PageHeader>
  );
}

function ForOperators({ model }: { model: string }) {
  const { t } = useTranslation('services');
  return (
    <Card>
      <EmptyState
        title={t('document.viewer.title')}
        actions={
          <Button asChild>
            <Link href={servicesHref(model)}>{t('model.allServices')}</Link>
          </Button>
        }
      >
        <p>{t('document.viewer.why')}</p>
      </EmptyState>
    </Card>
  );
}

interface LiveDocumentProps {
  model: ShownModel;
  document: ShownModelDocument | undefined;
  readAt: number;
}

function LiveDocument({ model, document: first, readAt }: LiveDocumentProps) {
  const trpc = useTRPC();
  const { t } = useTranslation('services');
  const query = useQuery({
    ...trpc.models.document.queryOptions({ model: model.name }),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    retry: false,
  });
  if (query.data !== undefined) return <DocumentEditor model={model} document={query.data} />;
  if (query.error !== null) {
    return (
      <Card>
        <QueryError
          error={query.error}
          title={t('document.failed')}
          onRetry={() => query.refetch()}
          at={new Date(query.errorUpdatedAt)}
        />
      </Card>
    );
  }
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card>
        <CardHeader
          title={
            <span translate="no" className="mono">
              {model.name}.json
            </span>
          }
        />
        <SkeletonRows columns={['w-60']} rows={12} label={t('document.loading')} />
      </Card>
      <Card>
        <CardHeader title={t('document.plan')} />
        <CardBody>
          <Skeleton className="w-40" />
        </CardBody>
      </Card>
    </div>
  );
}
