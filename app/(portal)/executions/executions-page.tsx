'use client';

import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ExecutionPage } from './execution-data.ts';
import { ExecutionTable } from './execution-table.tsx';
import { addressOfFilter, type ExecutionsFilter } from './executions-address.ts';
import { ExecutionsFilters } from './executions-filters.tsx';
import { MoreButton } from './more-button.tsx';
import { type FirstExecutions, useExecutions } from './use-executions.ts';

export interface ExecutionsPageProps {
  filter: ExecutionsFilter;
  /** The first page that the server rendered for this filter at `readAt` (milliseconds since 1970). */
  first: ExecutionPage;
  readAt: number;
  /** Shown below the title. */
  notice?: ReactNode;
}

/** The executions of all VMs. */
export function ExecutionsPage({ filter: initial, first, readAt, notice }: ExecutionsPageProps) {
  const { t } = useTranslation('executions');
  const [filter, setFilter] = useState(initial);
  const [clears, setClears] = useState(0);
  const clear = () => {
    setFilter({});
    setClears(clears + 1);
  };
  const address = addressOfFilter(filter);
  useEffect(() => {
    const query = address === '' ? '' : `?${address}`;
    if (window.location.search !== query) {
      window.history.replaceState(window.history.state, '', `${window.location.pathname}${query}`);
    }
  }, [address]);
  return (
    <>
      <PageHeader title={t('title')} />
      {notice ? <div className="mb-4 empty:hidden">{notice}</div> : null}
      <ExecutionsFilters key={clears} filter={filter} onChange={setFilter} onClear={clear} />
      <Card>
        <Rows
          filter={filter}
          first={address === addressOfFilter(initial) ? { page: first, readAt } : undefined}
          onClear={address === '' ? undefined : clear}
        />
      </Card>
    </>
  );
}

interface RowsProps {
  filter: ExecutionsFilter;
  first: FirstExecutions | undefined;
  onClear: (() => void) | undefined;
}

function Rows({ filter, first, onClear }: RowsProps) {
  const { t } = useTranslation('executions');
  const { list, executions } = useExecutions(filter, first);
  if (list.error && !list.data) {
    return (
      <QueryError title={t('failed')} error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
    );
  }
  if (list.isPending) return <SkeletonRows columns={['w-20', 'w-40', 'w-24', 'w-48']} rows={8} label={t('loading')} />;
  if (executions.length === 0) {
    return onClear === undefined ? (
      <EmptyState title={t('none.title')}>
        <p>{t('none.fleet')}</p>
        <p>
          <TextLink href="/vms">{t('none.vms')}</TextLink>
        </p>
      </EmptyState>
    ) : (
      <EmptyState title={t('noMatch.title')} actions={<Button onClick={onClear}>{t('filter.clear')}</Button>}>
        <p>{t('noMatch.why')}</p>
      </EmptyState>
    );
  }
  return (
    <div aria-busy={list.isPlaceholderData}>
      <ExecutionTable label={t('title')} executions={executions} showsVm />
      <MoreButton list={list} />
    </div>
  );
}
