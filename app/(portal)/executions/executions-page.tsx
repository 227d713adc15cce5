'use client';

import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ExecutionPage } from './execution-data.ts';
import { ExecutionGroups } from './execution-groups.tsx';
import { ExecutionTable } from './execution-table.tsx';
import {
  addressOfFilter,
  type ExecutionsFilter,
  type ExecutionsView,
  executionViews,
  queryOfFilter,
} from './executions-address.ts';
import { ExecutionsFilters } from './executions-filters.tsx';
import { MoreButton } from './more-button.tsx';
import { useExecutions } from './use-executions.ts';

export interface ExecutionsPageProps {
  filter: ExecutionsFilter;
  view: ExecutionsView;
  /** The first page that the server rendered for this filter at `readAt` (milliseconds since 1970). */
  first: ExecutionPage;
  readAt: number;
  /** Shown below the title. */
  notice?: ReactNode;
}

/** The executions of all VMs. */
export function ExecutionsPage({ filter: initial, view: initialView, first, readAt, notice }: ExecutionsPageProps) {
  const { t } = useTranslation('executions');
  const [filter, setFilter] = useState(initial);
  const [view, setView] = useState(initialView);
  const [clears, setClears] = useState(0);
  const clear = () => {
    setFilter({});
    setClears(clears + 1);
  };
  const address = addressOfFilter(filter);
  const onClear = address === '' ? undefined : clear;
  const { list, executions } = useExecutions(
    queryOfFilter(filter),
    address === addressOfFilter(initial) ? { page: first, readAt } : undefined,
  );
  const hasNone = address === '' && list.isSuccess && executions.length === 0;
  useEffect(() => {
    const parts = addressOfFilter(filter, view);
    const query = parts === '' ? '' : `?${parts}`;
    if (window.location.search !== query) {
      window.history.replaceState(window.history.state, '', `${window.location.pathname}${query}`);
    }
  }, [filter, view]);
  return (
    <>
      <PageHeader
        title={t('title')}
        actions={
          <Segmented<ExecutionsView>
            label={t('view')}
            value={view}
            onChange={setView}
            options={executionViews.map((value) => ({ value, label: t(`view.${value}`) }))}
          />
        }
      />
      {notice ? <div className="mb-4 empty:hidden">{notice}</div> : null}
      {hasNone ? null : <ExecutionsFilters key={clears} filter={filter} onChange={setFilter} onClear={clear} />}
      <Card>
        {view === 'plans' ? (
          <ExecutionGroups filter={filter} empty={<NoExecutions onClear={onClear} />} />
        ) : (
          <Rows list={list} executions={executions} onClear={onClear} />
        )}
      </Card>
    </>
  );
}

interface RowsProps extends ReturnType<typeof useExecutions> {
  onClear: (() => void) | undefined;
}

function Rows({ list, executions, onClear }: RowsProps) {
  const { t } = useTranslation('executions');
  if (list.error && !list.data) {
    return (
      <QueryError title={t('failed')} error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
    );
  }
  if (list.isPending) return <SkeletonRows columns={['w-20', 'w-40', 'w-24', 'w-48']} rows={8} label={t('loading')} />;
  if (executions.length === 0) return <NoExecutions onClear={onClear} />;
  return (
    <div aria-busy={list.isPlaceholderData} className={cn(list.isPlaceholderData && 'opacity-60')}>
      <ExecutionTable label={t('title')} executions={executions} showsVm />
      <MoreButton list={list} />
    </div>
  );
}

/** Says that there are no executions, or none that match the filters. */
function NoExecutions({ onClear }: Pick<RowsProps, 'onClear'>) {
  const { t } = useTranslation('executions');
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
