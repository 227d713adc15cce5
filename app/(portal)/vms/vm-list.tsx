'use client';

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
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
import type { AppRouter } from '#server/trpc/root.ts';
import { useSearchInAddress } from './use-search-in-address.ts';
import { VmTable } from './vm-table.tsx';

const EnrollDialog = dynamic(() => import('./enroll-dialog.tsx').then((module) => module.EnrollDialog), {
  ssr: false,
});

type FleetPage = inferRouterOutputs<AppRouter>['vms']['list'];

/** Health ages while nobody writes anything, so the list is read again now and then, too. */
const ageMs = 15_000;

export interface VmListProps {
  search: string;
  first: FleetPage;
  gatewayUrl: string;
}

/** The list with its search; the search lives in the address. */
export function VmList({ search: initial, first, gatewayUrl }: VmListProps) {
  const { t } = useTranslation('vms');
  const trpc = useTRPC();
  const reader = useReader();
  const [search, setSearch, settled] = useSearchInAddress(initial);
  const [enrolling, setEnrolling] = useState(false);
  const fleet = useInfiniteQuery({
    ...trpc.vms.list.infiniteQueryOptions(
      { q: settled, limit: 100 },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(settled === initial && { initialData: { pages: [first], pageParams: [null] } }),
    placeholderData: keepPreviousData,
    refetchInterval: ageMs,
  });
  const rows = fleet.data?.pages.flatMap((page) => page.items) ?? [];
  const mayEnroll = reader.can('operator');
  const isEmpty = fleet.isSuccess && rows.length === 0 && settled === '';
  const enroll = (
    <Button variant="primary" onClick={() => setEnrolling(true)}>
      <Plus aria-hidden />
      {t('enroll')}
    </Button>
  );

  return (
    <>
      <PageHeader title={t('title')} actions={mayEnroll && !isEmpty ? enroll : undefined} />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchInput
          label={t('search')}
          value={search}
          maxLength={200}
          onChange={(event) => setSearch(event.target.value)}
        />
        <span className="ms-auto text-12 text-ink-3 tabular-nums" role="status">
          {rows.length > 0 ? t(fleet.hasNextPage ? 'shown.more' : 'shown', { count: rows.length }) : null}
        </span>
      </div>
      {fleet.error && !fleet.data ? (
        <Card>
          <QueryError error={fleet.error} onRetry={fleet.refetch} at={new Date(fleet.errorUpdatedAt)} />
        </Card>
      ) : rows.length > 0 || fleet.isPending ? (
        <VmTable
          rows={rows}
          loading={fleet.isPending}
          stale={fleet.isPlaceholderData}
          more={fleet.hasNextPage && !fleet.isFetchingNextPage ? () => void fleet.fetchNextPage() : undefined}
        />
      ) : isEmpty ? (
        <Card>
          <EmptyState title={t('empty.title')} actions={mayEnroll ? enroll : undefined}>
            <p>{t(mayEnroll ? 'empty.why' : 'empty.viewer')}</p>
          </EmptyState>
        </Card>
      ) : (
        <Card>
          <EmptyState
            title={t('noMatch.title')}
            actions={<Button onClick={() => setSearch('')}>{t('noMatch.clear')}</Button>}
          >
            <p>{t('noMatch.why')}</p>
          </EmptyState>
        </Card>
      )}
      {enrolling ? <EnrollDialog gatewayUrl={gatewayUrl} onClose={() => setEnrolling(false)} /> : null}
    </>
  );
}
