'use client';

import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { rangeOf } from '../lanes.ts';
import type { ShownRelationDetails } from '../relation-data.ts';
import type { EventsRead } from '../use-relation.ts';
import { EventMark } from './event-mark.tsx';
import { HistoryLanes } from './history-lanes.tsx';

export interface HistoryCardProps {
  relation: ShownRelationDetails;
  history: EventsRead;
  /** The clock of the moment that is shown; null for now. */
  at: number | null;
  onMove(at: number | null): void;
}

/** The time machine: a slider over the clock of a relation, with what happened to each unit. */
export function HistoryCard({ relation, history: { query, events }, at, onMove }: HistoryCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const id = useId();
  const range = rangeOf(events ?? [], relation.clock);
  const current = at ?? range.to;
  const move = (clock: number) => onMove(clock >= range.to ? null : Math.max(range.from, clock));
  return (
    <Card aria-labelledby={id}>
      <CardHeader
        id={id}
        title={t('relation.history.title')}
        note={
          events === undefined || events.length === 0
            ? undefined
            : t('relation.history.how', { count: relation.clock, n: format.number(relation.clock) })
        }
        actions={
          events === undefined || events.length === 0 ? undefined : (
            <Steps range={range} current={current} onMove={move} />
          )
        }
      />
      {events === undefined ? (
        query.error ? (
          <QueryError
            title={t('relation.history.failed')}
            error={query.error}
            onRetry={query.refetch}
            at={new Date(query.errorUpdatedAt)}
          />
        ) : (
          <SkeletonRows columns={['w-24', 'w-96']} rows={4} label={t('relation.history.loading')} />
        )
      ) : events.length === 0 ? (
        <p className="px-4 pb-4 text-pretty text-ink-2">{t('relation.history.none')}</p>
      ) : (
        <>
          <HistoryLanes events={events} range={range} current={current} onMove={move} />
          <Foot query={query} />
        </>
      )}
    </Card>
  );
}

interface StepsProps {
  range: { from: number; to: number };
  current: number;
  onMove(clock: number): void;
}

/** The clock of the moment, and buttons for the changes before and after it. */
function Steps({ range, current, onMove: move }: StepsProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  return (
    <span className="flex items-center gap-1">
      <span className="me-1 text-12 tabular-nums">
        <span className="font-semibold">{format.number(current)}</span>{' '}
        {t('relation.history.of', { all: format.number(range.to) })}
      </span>
      <IconButton
        size="sm"
        variant="default"
        label={t('relation.history.back')}
        disabled={current <= range.from}
        onClick={() => move(current - 1)}
      >
        <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <IconButton
        size="sm"
        variant="default"
        label={t('relation.history.forward')}
        disabled={current >= range.to}
        onClick={() => move(current + 1)}
      >
        <ChevronRight aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
    </span>
  );
}

/** What the marks mean, and a button for earlier changes. */
function Foot({ query }: Pick<EventsRead, 'query'>) {
  const { t } = useTranslation('services');
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pb-3 text-12 text-ink-2">
      {(['joined', 'changed', 'left'] as const).map((kind) => (
        <span key={kind} className="inline-flex items-center gap-1.5">
          <svg viewBox="-8 -8 16 16" aria-hidden className="size-3.5">
            <EventMark kind={kind} />
          </svg>
          {t(`relation.event.${kind}`)}
        </span>
      ))}
      {query.hasNextPage ? (
        <Button
          size="sm"
          variant="ghost"
          className="ms-auto"
          busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('relation.history.earlier')}
        </Button>
      ) : null}
    </div>
  );
}
