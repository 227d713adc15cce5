'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { type ActivityQuery, addressOfFilter } from './activity-address.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { ActivityList } from './activity-list.tsx';
import { ChainState } from './chain-state.tsx';
import { ExportLinks } from './export-links.tsx';

type Activity = inferRouterOutputs<AppRouter>['activity'];

export interface ActivityPageProps {
  filter: ActivityQuery;
  first: Activity['list'];
  facets: Activity['facets'];
  chain: Activity['chain'];
}

/** The activity of the whole portal, with filters stored in the URL. */
export function ActivityPage({ filter: initial, first, facets, chain }: ActivityPageProps) {
  const { t } = useTranslation('activity');
  const trpc = useTRPC();
  const [filter, setFilter] = useState(initial);
  const address = addressOfFilter(filter);
  useEffect(() => {
    const query = address === '' ? '' : `?${address}`;
    if (window.location.search !== query) {
      window.history.replaceState(window.history.state, '', `${window.location.pathname}${query}`);
    }
  }, [address]);
  const known = useQuery({ ...trpc.activity.facets.queryOptions({}), initialData: facets });
  return (
    <>
      <PageHeader title={t('title')} actions={<ExportLinks filter={filter} />}>
        <ChainState initial={chain} />
      </PageHeader>
      <ActivityFilters filter={filter} onChange={setFilter} facets={known.data} />
      <ActivityList
        key={address}
        filter={filter}
        first={address === addressOfFilter(initial) ? first : undefined}
        onFilter={(more) => setFilter({ ...filter, ...more })}
        onClear={address === '' ? undefined : () => setFilter({})}
      />
    </>
  );
}
