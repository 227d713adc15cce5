'use client';

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ArrowUp } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { Feed, OnFilter } from './act.ts';
import type { ActivityQuery } from './activity-address.ts';
import { FeedDays } from './feed-days.tsx';

export interface ActivityListProps {
  filter: Omit<ActivityQuery, 'since'>;
  /** The first page, if the server rendered it. */
  first?: Feed | undefined;
  /** When the reader's previous visit ended. The list marks this time. */
  lastVisit?: Date | null;
  onFilter?: OnFilter;
  /** Removes all filters; undefined if there are none. */
  onClear?: (() => void) | undefined;
}

/**
 * Actions and events of VMs by day, newest first. New entries are announced as a count, so that rows do not move. To
 * use it on another page, render `<ActivityList filter={{ vmId }} />` inside `<Words namespaces={['activity']}>`; a new
 * filter needs a new `key`.
 */
export function ActivityList({ filter, first, lastVisit = null, onFilter, onClear }: ActivityListProps) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  const trpc = useTRPC();
  // The newest action and event to list; if undefined, the newest entries of the first response.
  const [end, setEnd] = useState(first && { upTo: first.newest, upToEvent: first.newestEvent });
  const list = useInfiniteQuery({
    ...trpc.activity.feed.infiniteQueryOptions(
      { ...filter, limit: 50, ...end, ...(lastVisit !== null && { mark: lastVisit.toISOString() }) },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(first !== undefined &&
      end?.upTo === first.newest &&
      end.upToEvent === first.newestEvent && { initialData: { pages: [first], pageParams: [null] } }),
    placeholderData: keepPreviousData,
  });
  const newest = list.data?.pages[0];
  const newer = useQuery({
    ...trpc.activity.countNewer.queryOptions({
      ...filter,
      after: end?.upTo ?? newest?.newest ?? 0,
      afterEvent: end?.upToEvent ?? newest?.newestEvent ?? 0,
    }),
    enabled: newest !== undefined,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const waiting = newer.data?.count ?? 0;
  const moment = (at: string): string => format.dateTime(new Date(at), 'short');

  if (list.error && !list.data) {
    return (
      <Card>
        <QueryError title={t('failed')} error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
      </Card>
    );
  }
  return (
    <div className="grid gap-3">
      <div role="status" className="empty:hidden">
        {waiting > 0 ? (
          <Button
            onClick={() => newer.data && setEnd({ upTo: newer.data.newest, upToEvent: newer.data.newestEvent })}
            className="w-full justify-center"
          >
            <ArrowUp aria-hidden />
            {t(newer.data?.atLeast === true ? 'newer.atLeast' : 'newer', { count: waiting })}
          </Button>
        ) : null}
      </div>
      {list.isPending ? (
        <Card>
          <SkeletonRows label={t('loading')} columns={['w-16', 'w-80', 'w-24']} rows={10} />
        </Card>
      ) : items.length === 0 ? (
        <Card>
          <EmptyState
            title={t(onClear === undefined ? 'empty.title' : 'noMatch.title')}
            actions={onClear === undefined ? undefined : <Button onClick={onClear}>{t('filter.clear')}</Button>}
          >
            {filter.from !== undefined && filter.to !== undefined ? (
              <p>{t('noMatch.between', { from: moment(filter.from), to: moment(filter.to) })}</p>
            ) : null}
            <p>{t(onClear === undefined ? 'empty.why' : 'noMatch.why')}</p>
          </EmptyState>
        </Card>
      ) : (
        <FeedDays items={items} filter={filter} lastVisit={lastVisit} onFilter={onFilter} />
      )}
      {list.hasNextPage ? (
        <Button
          className="justify-self-center"
          busy={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t('more')}
        </Button>
      ) : null}
    </div>
  );
}
