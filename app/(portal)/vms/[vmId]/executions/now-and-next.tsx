'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Countdown, RelativeTime } from '#app/_ui/time.tsx';
import { RunningFor } from '#app/(portal)/executions/duration.tsx';
import { isWaiting, type ShownExecution } from '#app/(portal)/executions/execution-data.ts';
import { ExecutionName, ExecutionState } from '#app/(portal)/executions/execution-name.tsx';
import { QueuedBy } from '#app/(portal)/executions/queued-by.tsx';
import { inQueueOrder, planTimeoutAt } from '#app/(portal)/executions/shown-state.ts';
import { RunPlanLink } from './run-plan-link.tsx';
import { RunRunbookLink } from './run-runbook-link.tsx';

const CancelDialog = dynamic(
  () => import('#app/(portal)/executions/cancel-dialog.tsx').then((module) => module.CancelDialog),
  { ssr: false },
);
const CancelWaitingDialog = dynamic(
  () => import('#app/(portal)/executions/cancel-dialog.tsx').then((module) => module.CancelWaitingDialog),
  { ssr: false },
);

/** Enough for all executions that have not ended: at most one that the machine has and 100 that wait. */
const allOpen = 200;

/** What the machine runs now and which executions wait, in their order. */
export function NowAndNext({ vmId, name }: { vmId: string; name: string }) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const reader = useReader();
  const [cancels, setCancels] = useState<ShownExecution | 'waiting' | null>(null);
  const open = useQuery(trpc.executions.list.queryOptions({ vmId, ended: false, limit: allOpen }));
  const executions = inQueueOrder(open.data?.items ?? []);
  const now = executions.filter((execution) => !isWaiting(execution));
  const waiting = executions.filter(isWaiting);
  return (
    <Card>
      <CardHeader
        title={t('open.title')}
        note={t('open.note')}
        actions={
          <>
            {waiting.length > 0 && reader.can('operator') ? (
              <Button size="sm" variant="ghost" onClick={() => setCancels('waiting')}>
                {t('cancelWaiting', { count: waiting.length })}
              </Button>
            ) : null}
            <RunPlanLink vmId={vmId} />
            <RunRunbookLink vmId={vmId} />
          </>
        }
      />
      {open.error && !open.data ? (
        <QueryError title={t('failed')} error={open.error} onRetry={open.refetch} at={new Date(open.errorUpdatedAt)} />
      ) : open.isPending ? (
        <SkeletonRows columns={['w-20', 'w-40', 'w-48']} rows={2} label={t('loading')} />
      ) : executions.length === 0 ? (
        <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t('open.none')}</p>
      ) : (
        <OpenTable now={now} waiting={waiting} onCancel={setCancels} />
      )}
      {cancels === 'waiting' ? (
        <CancelWaitingDialog vmId={vmId} name={name} count={waiting.length} onClose={() => setCancels(null)} />
      ) : cancels === null ? null : (
        <CancelDialog execution={cancels} onClose={() => setCancels(null)} />
      )}
    </Card>
  );
}

interface OpenTableProps {
  now: readonly ShownExecution[];
  waiting: readonly ShownExecution[];
  onCancel(execution: ShownExecution): void;
}

function OpenTable({ now, waiting, onCancel }: OpenTableProps) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const row = (execution: ShownExecution) => (
    <OpenRow
      key={execution.id}
      execution={execution}
      action={
        reader.can('operator') && execution.cancelAskedAt === null ? (
          <Button
            size="sm"
            variant={isWaiting(execution) ? 'ghost' : 'danger'}
            className={isWaiting(execution) ? 'max-sm:-ms-2' : undefined}
            onClick={() => onCancel(execution)}
          >
            {t('cancel')}
          </Button>
        ) : null
      }
    />
  );
  return (
    <TableFrame label={t('open.title')}>
      <Table>
        <THead>
          <tr>
            <Th className="max-sm:hidden">{t('column.state')}</Th>
            <Th className="max-sm:px-4!">{t('column.execution')}</Th>
            <Th className="max-sm:hidden">{t('column.by')}</Th>
            <Th className="max-sm:hidden">{t('column.queued')}</Th>
            <Th className="max-sm:hidden">{t('column.until')}</Th>
            <Th end className="max-sm:hidden">
              <span className="sr-only">{t('column.actions')}</span>
            </Th>
          </tr>
        </THead>
        <TBody>
          {now.map(row)}
          {waiting.map(row)}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function OpenRow({ execution, action }: { execution: ShownExecution; action: ReactNode }) {
  const { queuedAt } = execution;
  return (
    <Tr>
      <Td className="py-2 align-top max-sm:hidden">
        <ExecutionState execution={execution} />
      </Td>
      <Td className="py-2 align-top whitespace-normal max-sm:px-4! sm:min-w-44">
        <ExecutionName execution={execution} />
        <span className="block sm:hidden">
          <ExecutionState execution={execution} />
        </span>
        <span className="mt-0.5 block text-12 text-pretty text-ink-2">
          <Progress execution={execution} />
        </span>
        <span className="block text-12 text-ink-3 sm:hidden">
          <QueuedBy execution={execution} /> · <RelativeTime value={new Date(queuedAt)} />
          <span className="block">
            <Until execution={execution} />
          </span>
        </span>
        <span className="mt-1.5 block empty:hidden sm:hidden">{action}</span>
      </Td>
      <Td className="py-2 align-top max-sm:hidden">
        <QueuedBy execution={execution} />
      </Td>
      <Td className="py-2 align-top max-sm:hidden">
        <RelativeTime value={new Date(queuedAt)} />
      </Td>
      <Td className="py-2 align-top max-sm:hidden">
        <Until execution={execution} />
      </Td>
      <Td end className="py-2 align-top max-sm:hidden">
        {action}
      </Td>
    </Tr>
  );
}

/** What an execution that has not ended is doing. */
export function Progress({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { state, begunAt, cancelAskedAt, cancelAskedBy, receivedAt } = execution;
  if (cancelAskedAt !== null) return t('progress.canceling', { who: cancelAskedBy ?? '' });
  if (state === 'waiting-approval') return t('progress.approval');
  if (state === 'queued') return t('progress.queued');
  if (begunAt === null) return t(receivedAt === null ? 'progress.delivered' : 'progress.received');
  if (state === 'restarting') return t('progress.restarting');
  return <Trans text={t('progress.running')} tags={{ time: <RunningFor since={begunAt} /> }} />;
}

/** When the execution will expire or time out. */
function Until({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { dueAt } = execution;
  const timeoutAt = planTimeoutAt(execution);
  if (dueAt === null) return null;
  return (
    <span className="tabular-nums">
      {isWaiting(execution) || timeoutAt === null ? (
        <Trans text={t('until.expires')} tags={{ time: <RelativeTime value={new Date(dueAt)} /> }} />
      ) : (
        <Trans text={t('until.timesOut')} tags={{ time: <Countdown value={new Date(timeoutAt)} /> }} />
      )}
    </span>
  );
}
