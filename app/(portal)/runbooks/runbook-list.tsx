'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { useSearchInAddress } from '#app/(portal)/vms/use-search-in-address.ts';
import type { RunbookList as Runbooks } from './runbook-data.ts';
import { RunbookTable } from './runbook-table.tsx';

const NameDialog = dynamic(() => import('./name-dialog.tsx').then((module) => module.NameDialog), { ssr: false });

export interface RunbookListProps {
  search: string;
  first: Runbooks;
  /** When the server read `first`, in milliseconds since 1970. */
  readAt: number;
}

/** All runbooks, with a search that is stored in the URL. */
export function RunbookList({ search: initial, first, readAt }: RunbookListProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const { scripts } = useReader();
  const [search, setSearch, settled] = useSearchInAddress(initial);
  const [isNaming, setNaming] = useState(false);
  const runbooks = useQuery({
    ...trpc.runbooks.list.queryOptions({ q: settled }),
    ...(settled === initial && { initialData: first, initialDataUpdatedAt: readAt }),
    placeholderData: keepPreviousData,
  });
  const rows = runbooks.data?.items ?? [];
  const isEmpty = runbooks.isSuccess && rows.length === 0 && settled === '';
  const create = scripts ? (
    <Button variant="primary" onClick={() => setNaming(true)}>
      <Plus aria-hidden />
      {t('new')}
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader title={t('title')} actions={isEmpty ? undefined : create} />
      {isEmpty ? null : (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <SearchInput
            className="max-sm:w-full"
            label={t('list.search')}
            value={search}
            maxLength={200}
            onChange={(event) => setSearch(event.target.value)}
          />
          <span className="ms-auto text-12 text-ink-3 tabular-nums" role="status">
            {rows.length > 0 ? t('list.count', { count: rows.length }) : null}
          </span>
        </div>
      )}
      {runbooks.error && !runbooks.data ? (
        <Card>
          <QueryError
            title={t('list.failed')}
            error={runbooks.error}
            onRetry={runbooks.refetch}
            at={new Date(runbooks.errorUpdatedAt)}
          />
        </Card>
      ) : rows.length > 0 || runbooks.isPending ? (
        <RunbookTable rows={rows} search={settled} loading={runbooks.isPending} stale={runbooks.isPlaceholderData} />
      ) : isEmpty ? (
        <Card>
          <EmptyState title={t('list.empty.title')} actions={create}>
            <p>{t('list.empty.what')}</p>
            <p>{t(scripts ? 'list.empty.scripts' : 'list.empty.others')}</p>
          </EmptyState>
        </Card>
      ) : (
        <Card>
          <EmptyState
            title={t('list.noMatch.title')}
            actions={<Button onClick={() => setSearch('')}>{t('list.noMatch.clear')}</Button>}
          >
            <p>{t('list.noMatch.why')}</p>
          </EmptyState>
        </Card>
      )}
      {isNaming ? <NameDialog onClose={() => setNaming(false)} /> : null}
    </>
  );
}
