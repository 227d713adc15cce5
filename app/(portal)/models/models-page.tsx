'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useRequestedAct } from '#app/_lib/requested-act.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { ageMs, type ListedModel, type ShownAccount } from './model-data.ts';
import { ModelTable } from './model-table.tsx';

const CreateModelDialog = dynamic(
  () => import('./create-model-dialog.tsx').then((module) => module.CreateModelDialog),
  {
    ssr: false,
  },
);
const StorageAccountsCard = dynamic(() =>
  import('./storage-accounts-card.tsx').then((module) => module.StorageAccountsCard),
);

export interface ModelsPageProps {
  /** What the server read at `readAt` (milliseconds since 1970). */
  first: { items: ListedModel[] };
  /** The storage accounts; undefined if the server could not read them. */
  accounts: { items: ShownAccount[] } | undefined;
  readAt: number;
}

/** All models. Operators create models; admins also create and delete storage accounts. */
export function ModelsPage({ first, accounts, readAt }: ModelsPageProps) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const reader = useReader();
  const [isCreating, setCreating] = useState(false);
  const models = useQuery({
    ...trpc.models.counted.queryOptions(),
    ...{ initialData: first, initialDataUpdatedAt: readAt, enabled: false },
  });
  useThrottledReload({ queryKey: trpc.models.counted.queryKey(), refetch: models.refetch, agesMs: ageMs });
  useRequestedAct('createModel', () => setCreating(reader.can('operator')));
  const create = reader.can('operator') ? (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      {t('new')}
    </Button>
  ) : undefined;
  const { items } = models.data;
  return (
    <>
      <PageHeader
        title={t('title')}
        note={items.length === 0 ? undefined : t('list.count', { count: items.length })}
        actions={items.length === 0 ? undefined : create}
      />
      {models.error ? (
        <Card className="mb-4">
          <QueryError
            title={t('list.failed')}
            error={models.error}
            onRetry={models.refetch}
            at={new Date(models.errorUpdatedAt)}
          />
        </Card>
      ) : null}
      {items.length === 0 ? <NoModels create={create} /> : <ModelTable rows={items} />}
      {reader.can('admin') ? <StorageAccountsCard first={accounts} readAt={readAt} models={items} /> : null}
      {isCreating ? <CreateModelDialog onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function NoModels({ create }: { create: ReactNode }) {
  const { t } = useTranslation('models');
  return (
    <Card>
      <EmptyState title={t('list.empty.title')} actions={create}>
        <p>{t('list.empty.what')}</p>
        <p>{t(create === undefined ? 'list.empty.viewer' : 'list.empty.how')}</p>
      </EmptyState>
    </Card>
  );
}
