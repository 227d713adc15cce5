'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { ExecutionTable } from '#app/(portal)/executions/execution-table.tsx';
import { MoreButton } from '#app/(portal)/executions/more-button.tsx';
import { useExecutions } from '#app/(portal)/executions/use-executions.ts';
import { ChannelBanner } from './channel/channel-banner.tsx';
import { ChannelCard } from './channel/channel-card.tsx';
import { NowAndNext } from './now-and-next.tsx';

/** The executions of a VM: what runs now and next, then what has ended, newest first, and how the agent gets plans. */
export function ExecutionsTab({ vmId, name }: { vmId: string; name: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <ChannelBanner vmId={vmId} />
      <NowAndNext vmId={vmId} name={name} />
      <PastExecutions vmId={vmId} />
      <ChannelCard vmId={vmId} name={name} />
    </div>
  );
}

function PastExecutions({ vmId }: { vmId: string }) {
  const { t } = useTranslation('executions');
  const { list, executions } = useExecutions({ vmId, ended: true });
  return (
    <Card>
      <CardHeader title={t('past.title')} note={t('past.note')} />
      {list.error && !list.data ? (
        <QueryError title={t('failed')} error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
      ) : list.isPending ? (
        <SkeletonRows columns={['w-20', 'w-40', 'w-48']} rows={5} label={t('loading')} />
      ) : executions.length === 0 ? (
        <EmptyState as="h3" title={t('past.none')}>
          <p className="text-pretty">{t('none.vm')}</p>
        </EmptyState>
      ) : (
        <>
          <ExecutionTable label={t('past.title')} executions={executions} showsVm={false} />
          <MoreButton list={list} />
        </>
      )}
    </Card>
  );
}
