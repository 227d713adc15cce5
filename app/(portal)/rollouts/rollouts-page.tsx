'use client';

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import Link from 'next/link';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { pageSize, type RolloutPage } from './rollout-data.ts';
import { RolloutGroups } from './rollout-groups.tsx';
import { addressOfFilter, queryOfFilter, type RolloutsFilter } from './rollouts-address.ts';
import { RolloutsFilters } from './rollouts-filters.tsx';

export interface RolloutsPageProps {
  filter: RolloutsFilter;
  /** The first page that the server rendered for this filter at `readAt` (milliseconds since 1970). */
  first: RolloutPage;
  readAt: number;
}

function useRollouts(filter: RolloutsFilter, first: { page: RolloutPage; readAt: number } | undefined) {
  const trpc = useTRPC();
  return useInfiniteQuery({
    ...trpc.rollouts.list.infiniteQueryOptions(
      { ...queryOfFilter(filter), limit: pageSize },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(first !== undefined && {
      initialData: { pages: [first.page], pageParams: [null] },
      initialDataUpdatedAt: first.readAt,
    }),
    placeholderData: keepPreviousData,
  });
}

/** The list of rollouts. */
export function RolloutsPage({ filter: initial, first, readAt }: RolloutsPageProps) {
  const { t } = useTranslation('rollouts');
  const reader = useReader();
  const [filter, setFilter] = useState(initial);
  const [clears, setClears] = useState(0);
  const clear = () => {
    setFilter({});
    setClears(clears + 1);
  };
  const address = addressOfFilter(filter);
  const list = useRollouts(filter, address === addressOfFilter(initial) ? { page: first, readAt } : undefined);
  useEffect(() => {
    const query = address === '' ? '' : `?${address}`;
    if (window.location.search !== query) {
      window.history.replaceState(window.history.state, '', `${window.location.pathname}${query}`);
    }
  }, [address]);
  const hasNone = address === '' && list.data?.pages[0]?.items.length === 0;
  return (
    <>
      <PageHeader title={t('list.title')} actions={reader.can('operator') && !hasNone ? <NewRollout /> : undefined} />
      {hasNone ? null : <RolloutsFilters key={clears} filter={filter} onChange={setFilter} onClear={clear} />}
      <Rows list={list} onClear={address === '' ? undefined : clear} />
    </>
  );
}

function NewRollout() {
  const { t } = useTranslation('rollouts');
  return (
    <Button variant="primary" asChild>
      <Link href="/rollouts/new">
        <Plus aria-hidden />
        {t('list.new')}
      </Link>
    </Button>
  );
}

interface RowsProps {
  list: ReturnType<typeof useRollouts>;
  onClear: (() => void) | undefined;
}

function Rows({ list, onClear }: RowsProps) {
  const { t } = useTranslation(['rollouts', 'common']);
  if (list.error && !list.data) {
    return (
      <Card>
        <QueryError
          title={t('rollouts:list.failed')}
          error={list.error}
          onRetry={list.refetch}
          at={new Date(list.errorUpdatedAt)}
        />
      </Card>
    );
  }
  if (list.isPending) {
    return (
      <Card>
        <SkeletonRows columns={['w-48', 'w-40', 'w-64']} rows={8} label={t('rollouts:list.loading')} />
      </Card>
    );
  }
  const rows = list.data.pages.flatMap((page) => page.items);
  if (rows.length === 0) return <NoRollouts onClear={onClear} />;
  return (
    <div aria-busy={list.isPlaceholderData} className={cn(list.isPlaceholderData && 'opacity-60')}>
      <RolloutGroups rows={rows} />
      {list.hasNextPage ? (
        <Button variant="ghost" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('common:showMore')}
        </Button>
      ) : null}
    </div>
  );
}

/** Says that there are no rollouts, or none that match the filters. */
function NoRollouts({ onClear }: Pick<RowsProps, 'onClear'>) {
  const { t } = useTranslation('rollouts');
  const reader = useReader();
  return (
    <Card>
      {onClear === undefined ? (
        <EmptyState title={t('list.none.title')} actions={reader.can('operator') ? <NewRollout /> : undefined}>
          <p>{t('list.none.why')}</p>
        </EmptyState>
      ) : (
        <EmptyState title={t('list.noMatch.title')} actions={<Button onClick={onClear}>{t('list.clear')}</Button>}>
          <p>{t('list.noMatch.why')}</p>
        </EmptyState>
      )}
    </Card>
  );
}
