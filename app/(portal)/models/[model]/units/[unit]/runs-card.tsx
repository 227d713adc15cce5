'use client';

import { type Ref, useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { NamedUnit, ShownRunDetails } from '../unit-data.ts';
import type { RunsRead } from '../use-unit.ts';
import { RunDetails } from './run-details.tsx';
import { RunList } from './run-list.tsx';

export interface UnitRunsProps {
  ref: Ref<HTMLElement>;
  name: NamedUnit;
  runs: RunsRead;
  /** The run that the reader opened; null for the newest one. */
  chosen: string | null;
  /** The run that the server read at `readAt` (milliseconds since 1970). */
  first: ShownRunDetails | undefined;
  readAt: number;
  onOpen(run: string): void;
}

/** The runs of a unit’s hooks, newest first, and one of them with its output. */
export function RunsCard({ ref, name, runs: { query, runs }, chosen, first, readAt, onOpen }: UnitRunsProps) {
  const { t } = useTranslation('services');
  const explain = useProblem();
  const id = useId();
  const newest = runs?.[0];
  const opened = chosen ?? newest?.id ?? null;
  return (
    <Card ref={ref} aria-labelledby={id} className="mt-4 scroll-mt-4">
      <CardHeader id={id} title={t('unit.runs.title')} note={newest === undefined ? undefined : t('unit.runs.order')} />
      {runs === undefined ? (
        query.error ? (
          <QueryError
            title={t('unit.runs.failed')}
            error={query.error}
            onRetry={query.refetch}
            at={new Date(query.errorUpdatedAt)}
          />
        ) : (
          <SkeletonRows columns={['w-8', 'w-40', 'w-16']} rows={5} label={t('unit.runs.loading')} />
        )
      ) : newest === undefined ? (
        <p className="px-4 pb-4 text-ink-2">{t('unit.runs.none')}</p>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] border-t border-line-subtle lg:grid-cols-[20rem_minmax(0,1fr)]">
          <div className="max-h-72 min-w-0 overflow-y-auto border-line-subtle max-lg:border-b lg:max-h-[64rem] lg:border-e">
            <RunList runs={runs} opened={opened} onOpen={onOpen} />
            {query.hasNextPage ? (
              <div className="border-t border-line-subtle p-2">
                <Button variant="ghost" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  {t('unit.runs.more')}
                </Button>
                {query.isFetchNextPageError ? <FieldError>{explain(query.error).message}</FieldError> : null}
              </div>
            ) : null}
          </div>
          {opened === null ? null : <RunDetails key={opened} {...{ name, first, readAt }} run={opened} />}
        </div>
      )}
    </Card>
  );
}
