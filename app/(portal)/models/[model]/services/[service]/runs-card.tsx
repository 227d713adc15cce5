'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { RowLink } from '#app/_ui/row-link.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { ageMs } from '../../../model-data.ts';
import { type ShownRecentRun, unitHref } from '../service-data.ts';
import { latestRuns, recentRuns } from './latest-runs.ts';

export interface RecentRunsProps {
  model: string;
  /** Only the runs of this service; without it, those of the model. */
  service?: string;
  /** What the server read at `readAt` (milliseconds since 1970); undefined if it could not read it. */
  first: { items: ShownRecentRun[] } | undefined;
  readAt: number;
}

/** The latest runs of hooks. A run is on the page of its unit. */
export function RunsCard({ model, service, first, readAt }: RecentRunsProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const input = { model, limit: recentRuns, ...(service !== undefined && { service }) };
  const runs = useQuery({
    ...trpc.services.runs.queryOptions(input),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    ...{ enabled: false, retry: false },
  });
  const { refetch } = runs;
  useThrottledReload({ queryKey: trpc.services.runs.queryKey(input), refetch, agesMs: ageMs * 6 });
  const items = runs.data && latestRuns(runs.data.items);
  return (
    <Card className="mb-4">
      <CardHeader title={t('runs.title')} note={t('runs.note')} />
      {runs.error ? (
        <QueryError
          title={t(items === undefined ? 'runs.notLoaded' : 'runs.stale')}
          error={runs.error}
          onRetry={refetch}
          at={new Date(runs.errorUpdatedAt)}
        />
      ) : items === undefined ? (
        <SkeletonRows columns={['w-24', 'w-32', 'w-48']} rows={4} label={t('runs.loading')} />
      ) : null}
      {items?.length === 0 ? (
        <EmptyState as="h3" title={t('runs.none.title')}>
          <p>{t('runs.none.why')}</p>
        </EmptyState>
      ) : null}
      {items === undefined || items.length === 0 ? null : <RunTable model={model} runs={items} />}
    </Card>
  );
}

const statusOfOutcome: Readonly<Record<ShownRecentRun['outcome'], StatusName>> = {
  running: 'progressing',
  succeeded: 'healthy',
  failed: 'failed',
  'timed-out': 'failed',
  interrupted: 'warning',
  refused: 'failed',
  skipped: 'disabled',
};

function RunTable({ model, runs }: { model: string; runs: readonly ShownRecentRun[] }) {
  const { t } = useTranslation('services');
  return (
    <TableFrame label={t('runs.title')}>
      <Table>
        <THead className="sr-only">
          <tr>
            <Th>{t('runs.outcome')}</Th>
            <Th>{t('column.unit')}</Th>
            <Th>{t('runs.hook')}</Th>
            <Th end>{t('runs.begun')}</Th>
          </tr>
        </THead>
        <TBody>
          {runs.map((run) => (
            <RunRow key={`${run.unit} ${run.id}`} model={model} run={run} />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function RunRow({ model, run }: { model: string; run: ShownRecentRun }) {
  const { t } = useTranslation('services');
  const { unit, hook, remoteUnit, outcome, exitCode, reason, begunAt, attempt } = run;
  const status = (
    <Status status={statusOfOutcome[outcome]}>
      {outcome === 'failed' && exitCode !== null ? t('runs.exit', { code: exitCode }) : t(`runs.${outcome}`)}
    </Status>
  );
  return (
    <Tr className="relative">
      <Td className="w-36 max-sm:hidden">{status}</Td>
      <Td className="py-1.5 max-sm:ps-4 sm:w-44">
        <span className="flex flex-wrap items-center gap-x-3">
          <RowLink href={unitHref(model, unit)} prefetch={false} translate="no">
            {unit}
          </RowLink>
          <span className="flex text-12 sm:hidden">{status}</span>
        </span>
        <span className="block text-12 whitespace-normal sm:hidden">
          <Hook hook={hook} remoteUnit={remoteUnit} attempt={attempt} />
          <Reason reason={reason} />
        </span>
      </Td>
      <Td className="max-w-96 py-1.5 whitespace-normal max-sm:hidden">
        <Hook hook={hook} remoteUnit={remoteUnit} attempt={attempt} />
        <Reason reason={reason} />
      </Td>
      <Td end className="text-ink-2 max-sm:text-12">
        <RelativeTime value={new Date(begunAt)} />
      </Td>
    </Tr>
  );
}

function Hook({ hook, remoteUnit, attempt }: Pick<ShownRecentRun, 'hook' | 'remoteUnit' | 'attempt'>) {
  const { t } = useTranslation('services');
  return (
    <>
      <span translate="no" className="mono wrap-anywhere">
        {hook}
      </span>
      {remoteUnit === null ? null : <span className="text-ink-2"> {t('needs.for', { name: remoteUnit })}</span>}
      {attempt > 1 ? <span className="text-12 text-ink-3"> {t('runs.attempt', { number: attempt })}</span> : null}
    </>
  );
}

function Reason({ reason }: Pick<ShownRecentRun, 'reason'>) {
  if (reason === null) return null;
  return (
    <bdi lang={canonicalLanguage(reason.lang) ?? ''} className="line-clamp-2 block text-12 wrap-anywhere text-ink-2">
      {isolateText(reason.text)}
    </bdi>
  );
}
