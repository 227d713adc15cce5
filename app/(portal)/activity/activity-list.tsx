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
import type { ActivityPage, ListedAct, OnFilter } from './act.ts';
import { ActRow } from './act-row.tsx';
import type { ActivityQuery } from './activity-address.ts';

export interface ActivityListProps {
  filter: ActivityQuery;
  /** The first page, if the server rendered it. */
  first?: ActivityPage | undefined;
  onFilter?: OnFilter;
  /** Removes all filters; undefined if there are none. */
  onClear?: (() => void) | undefined;
}

/**
 * Actions by day, newest first. New actions are announced as a count, so that rows do not move. To use it on another
 * page, render `<ActivityList filter={{ vmId }} />` inside `<Words namespaces={['activity']}>`; a new filter needs a
 * new `key`.
 */
export function ActivityList({ filter, first, onFilter, onClear }: ActivityListProps) {
  const { t } = useTranslation('activity');
  const trpc = useTRPC();
  // The newest action to list; if undefined, the newest one in the first response.
  const [upTo, setUpTo] = useState(first?.newest);
  const list = useInfiniteQuery({
    ...trpc.activity.list.infiniteQueryOptions(
      { ...filter, limit: 50, ...(upTo === undefined ? {} : { upTo }) },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(first !== undefined && upTo === first.newest && { initialData: { pages: [first], pageParams: [null] } }),
    placeholderData: keepPreviousData,
  });
  const newest = upTo ?? list.data?.pages[0]?.newest;
  const newer = useQuery({
    ...trpc.activity.countNewer.queryOptions({ ...filter, after: newest ?? 0 }),
    enabled: newest !== undefined,
  });
  const acts = list.data?.pages.flatMap((page) => page.items) ?? [];
  const waiting = newer.data?.count ?? 0;

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
          <Button onClick={() => setUpTo(newer.data?.newest)} className="w-full justify-center">
            <ArrowUp aria-hidden />
            {t(newer.data?.atLeast === true ? 'newer.atLeast' : 'newer', { count: waiting })}
          </Button>
        ) : null}
      </div>
      {list.isPending ? (
        <Card>
          <SkeletonRows label={t('loading')} columns={['w-16', 'w-80', 'w-24']} rows={10} />
        </Card>
      ) : acts.length === 0 ? (
        <Card>
          <EmptyState
            title={t(onClear === undefined ? 'empty.title' : 'noMatch.title')}
            actions={onClear === undefined ? undefined : <Button onClick={onClear}>{t('filter.clear')}</Button>}
          >
            <p>{t(onClear === undefined ? 'empty.why' : 'noMatch.why')}</p>
          </EmptyState>
        </Card>
      ) : (
        <Days acts={acts} onFilter={onFilter} />
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

function Days({ acts, onFilter }: { acts: readonly ListedAct[]; onFilter: OnFilter }) {
  const format = useFormat();
  const days = new Map<string, ListedAct[]>();
  for (const act of acts) {
    const day = format.dateTime(act.at, 'date');
    days.set(day, [...(days.get(day) ?? []), act]);
  }
  return [...days].map(([day, ofDay]) => (
    <Card key={day} aria-label={day}>
      <h2 className="border-b border-line-subtle px-4 py-2 text-12 font-medium text-ink-3">{day}</h2>
      <ol className="divide-y divide-line-subtle">
        {ofDay.map((act) => (
          <ActRow key={act.id} act={act} onFilter={onFilter} />
        ))}
      </ol>
    </Card>
  ));
}
