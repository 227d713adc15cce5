'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useTimeZone } from '#app/_ui/clock.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { type ActivityQuery, addressOfFilter } from './activity-address.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { ActivityList } from './activity-list.tsx';
import { ActivityPresets } from './activity-presets.tsx';
import { ChainState } from './chain-state.tsx';
import { ExportLinks } from './export-links.tsx';
import { type PresetBasis, withRange } from './presets.ts';

type Activity = inferRouterOutputs<AppRouter>['activity'];

export interface ActivityPageProps {
  filter: ActivityQuery;
  /** The values from which the server computed the ranges of the presets. */
  basis: PresetBasis;
  first: Activity['feed'];
  facets: Activity['facets'];
  chain: Activity['chain'];
}

/** The activity of the whole portal, with filters stored in the URL. */
export function ActivityPage({ filter: initial, basis: firstBasis, first, facets, chain }: ActivityPageProps) {
  const { t } = useTranslation('activity');
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const [filter, setFilter] = useState(initial);
  const [basis, setBasis] = useState(firstBasis);
  const change = (next: ActivityQuery) => {
    if (next.since !== filter.since) setBasis({ ...basis, now: Date.now(), timeZone });
    setFilter(next);
  };
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
      <PageHeader title={t('title')} actions={<ExportLinks filter={withRange(filter, basis)} />}>
        <ChainState initial={chain} />
      </PageHeader>
      <ActivityPresets filter={filter} basis={basis} onChange={change} />
      <ActivityFilters filter={filter} onChange={change} facets={known.data} />
      <ActivityList
        key={address}
        filter={withRange(filter, basis)}
        first={basis === firstBasis && address === addressOfFilter(initial) ? first : undefined}
        lastVisit={basis.lastVisit}
        onFilter={(more) => change({ ...filter, ...more })}
        onClear={address === '' ? undefined : () => change({})}
      />
    </>
  );
}
