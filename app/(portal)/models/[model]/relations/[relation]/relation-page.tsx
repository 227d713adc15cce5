'use client';

import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { modelHref } from '../../../model-data.ts';
import { changedCells, countDifferences } from '../moments.ts';
import { maxColumns, type RelationName, type RelationParts, type ShownRelationDetails } from '../relation-data.ts';
import { type NowRead, useEvents, useNow, usePast, useRelation } from '../use-relation.ts';
import { DataCard } from './data-card.tsx';
import { RelationHead } from './relation-head.tsx';

// Rendered by the server; their scripts follow the page's.
const BehindCard = dynamic(() => import('./behind-card.tsx').then((module) => module.BehindCard));
const ChangesCard = dynamic(() => import('./changes-card.tsx').then((module) => module.ChangesCard));
const FailingCard = dynamic(() => import('./failing-card.tsx').then((module) => module.FailingCard));
const HistoryCard = dynamic(() => import('./history-card.tsx').then((module) => module.HistoryCard));

const RemoveRelationDialog = dynamic(
  () => import('./remove-relation-dialog.tsx').then((module) => module.RemoveRelationDialog),
  { ssr: false },
);

export interface RelationPageProps {
  model: string;
  /** What the server read at `readAt` (milliseconds since 1970). */
  first: ShownRelationDetails;
  parts: RelationParts;
  readAt: number;
}

/** One relation, with live data. Each card fails independently. */
export function RelationPage({ model, first, parts, readAt }: RelationPageProps) {
  const { t } = useTranslation('services');
  const name: RelationName = { model, number: first.number, id: String(first.id) };
  const [at, setAt] = useState<number | null>(null);
  const [pinned, setPinned] = useState<number | 'now' | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const relationQuery = useRelation(name, first, readAt);
  const now = useNow(name, parts, readAt);
  const history = useEvents(name, parts, readAt);
  const past = usePast(name, at);
  const other = usePast(name, typeof pinned === 'number' ? pinned : null);
  const relation = relationQuery.data;
  if (relationQuery.error && problemOf(relationQuery.error).status === 404) return <RelationGone model={model} />;
  const shown = at === null ? now : past;
  // While the first moment of the past loads, the settings of now stay on screen.
  const moment = shown.moment ?? (shown.query.error ? undefined : now.moment);
  const compared = pinned === null ? null : ((pinned === 'now' ? now.moment : other.moment) ?? null);
  const events = history.events ?? [];
  const clocks = [at ?? relation.clock, typeof pinned === 'number' ? pinned : relation.clock] as const;
  const changed = changedCells(events, ...clocks);
  const since =
    moment === undefined || now.moment === undefined || at === null
      ? 0
      : countDifferences(moment, now.moment, changedCells(events, at, relation.clock));
  return (
    <>
      <RelationHead name={name} relation={relation} onRemove={() => setRemoving(true)} />
      {relationQuery.error ? (
        <Card className="mb-4">
          <QueryError
            title={t('relation.stale')}
            error={relationQuery.error}
            onRetry={relationQuery.refetch}
            at={new Date(relationQuery.errorUpdatedAt)}
          />
        </Card>
      ) : null}
      {relation.failing > 0 ? <FailingCard name={name} first={parts.failing} readAt={readAt} /> : null}
      {relation.behind > 0 ? (
        <BehindCard name={name} relation={relation} moment={now.moment} first={parts.readers} />
      ) : null}
      <HistoryCard relation={relation} history={history} at={at} onMove={setAt} />
      {typeof pinned === 'number' && other.query.error ? <CompareFailed query={other.query} /> : null}
      {moment === undefined ? (
        <DataNotLoaded query={shown.query} units={relation.units} />
      ) : (
        <DataCard
          {...{ name, relation, moment, compared, changed, events, at, pinned, since }}
          isLoading={shown.query.isFetching && at !== null}
          onMove={setAt}
          onPin={setPinned}
        />
      )}
      <ChangesCard name={name} relation={relation} history={history} at={at} onMove={setAt} />
      {isRemoving ? <RemoveRelationDialog name={name} relation={relation} onClose={() => setRemoving(false)} /> : null}
    </>
  );
}

/** Shown if the moment to compare with could not be loaded. */
function CompareFailed({ query: { error, refetch, errorUpdatedAt } }: Pick<ReturnType<typeof usePast>, 'query'>) {
  const { t } = useTranslation('services');
  return (
    <Card className="mt-4">
      <QueryError title={t('relation.compare.failed')} error={error} onRetry={refetch} at={new Date(errorUpdatedAt)} />
    </Card>
  );
}

/** Shown while the settings are loaded, with the height that they will have, or if they could not be loaded. */
function DataNotLoaded({ query: { error, refetch }, units }: Pick<NowRead, 'query'> & { units: number }) {
  const { t } = useTranslation('services');
  const isList = units > maxColumns;
  return (
    <div className="mt-4 grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_var(--aside)]">
      <Card className={cn('overflow-clip', isList && !error && 'h-[46rem]')}>
        <CardHeader title={t('relation.data.title')} />
        {error ? (
          <QueryError title={t('relation.data.failed')} error={error} onRetry={refetch} />
        ) : (
          <SkeletonRows columns={['w-24', 'w-40', 'w-40']} rows={isList ? 16 : 6} label={t('relation.data.loading')} />
        )}
      </Card>
    </div>
  );
}

/** Shown once the relation is no longer known, because its model was destroyed. */
function RelationGone({ model }: { model: string }) {
  const { t } = useTranslation('services');
  return (
    <Card>
      <EmptyState
        as="h1"
        title={t('relation.gone.title')}
        actions={
          <Button asChild>
            <Link href={modelHref(model)}>{t('service.gone.act')}</Link>
          </Button>
        }
      >
        <p>{t('relation.gone.why')}</p>
      </EmptyState>
    </Card>
  );
}
