'use client';

import { Fragment } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { FeedItem, OnFilter } from './act.ts';
import { ActRow } from './act-row.tsx';
import type { ActivityQuery } from './activity-address.ts';
import { EventRow } from './event-row.tsx';
import { FoldRow } from './fold-row.tsx';

export interface FeedDaysProps {
  items: readonly FeedItem[];
  filter: ActivityQuery;
  lastVisit: Date | null;
  onFilter: OnFilter;
}

/** Actions and events grouped by day, with a line where the reader's last visit ended. */
export function FeedDays({ items, filter, lastVisit, onFilter }: FeedDaysProps) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  const days = new Map<string, FeedItem[]>();
  for (const item of items) {
    const day = format.dateTime(item.at, 'date');
    days.set(day, [...(days.get(day) ?? []), item]);
  }
  const firstSeen = lastVisit === null ? undefined : items.find(({ at }) => at <= lastVisit);
  return [...days].map(([day, ofDay]) => (
    <Card key={day} aria-label={day}>
      <h2 className="border-b border-line-subtle px-4 py-2 text-12 font-medium text-ink-3">{day}</h2>
      <ol className="divide-y divide-line-subtle">
        {ofDay.map((item) => (
          <Fragment key={keyOf(item)}>
            {item === firstSeen ? (
              <li className="flex items-center gap-3 px-4 py-1 text-11 font-medium text-link before:h-px before:flex-1 before:bg-current after:h-px after:flex-1 after:bg-current">
                {t('lastVisit')}
              </li>
            ) : null}
            {item.type === 'event' ? (
              <EventRow event={item.event} />
            ) : item.fold === null ? (
              <ActRow act={item.act} onFilter={onFilter} />
            ) : (
              <FoldRow act={item.act} fold={item.fold} filter={filter} onFilter={onFilter} />
            )}
          </Fragment>
        ))}
      </ol>
    </Card>
  ));
}

const keyOf = (item: FeedItem): string =>
  item.type === 'event' ? `${item.event.kind}:${item.event.minute.toISOString()}` : String(item.act.id);
