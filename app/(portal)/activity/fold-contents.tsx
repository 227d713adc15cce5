'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { FoldedActs, ListedAct, OnFilter } from './act.ts';
import { ActRow } from './act-row.tsx';
import type { ActivityQuery } from './activity-address.ts';

export interface FoldContentsProps {
  id: string;
  act: ListedAct;
  fold: NonNullable<FoldedActs['fold']>;
  filter: ActivityQuery;
  onFilter: OnFilter;
}

/** The individual actions of a folded line, newest first. */
export function FoldContents({ id, act, fold, filter, onFilter }: FoldContentsProps) {
  const { t } = useTranslation('activity');
  const trpc = useTRPC();
  const acts = useInfiniteQuery({
    ...trpc.activity.list.infiniteQueryOptions(
      {
        ...filter,
        actor: `${act.actor.kind}:${act.actor.id}`,
        action: act.action,
        target: filter.target ?? act.target.kind,
        from: fold.from.toISOString(),
        to: new Date(act.at.getTime() + 1).toISOString(),
        upTo: act.id,
        limit: 50,
      },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    staleTime: 300_000,
  });
  return (
    <div id={id} className="border-t border-line-subtle bg-sunken">
      {acts.error ? (
        <QueryError error={acts.error} onRetry={acts.refetch} />
      ) : acts.data === undefined ? (
        <Skeleton className="mx-4 my-3 w-64" />
      ) : (
        <ol className="divide-y divide-line-subtle ps-6">
          {acts.data.pages
            .flatMap((page) => page.items)
            .map((each) => (
              <ActRow key={each.id} act={each} onFilter={onFilter} />
            ))}
        </ol>
      )}
      {acts.hasNextPage ? (
        <Button size="sm" variant="ghost" busy={acts.isFetchingNextPage} onClick={() => void acts.fetchNextPage()}>
          {t('more')}
        </Button>
      ) : null}
    </div>
  );
}
