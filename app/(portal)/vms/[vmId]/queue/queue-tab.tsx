'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';
import { Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import type { QueueLine } from '../vm-data.ts';
import { type QueueGroup, queueGroups } from './queue-groups.ts';
import { StepsText } from './steps-text.tsx';
import { useQueue } from './use-queue.ts';

/** Everything that the machine does now and next, in order, and everything that waits. */
export function QueueTab({ vmId }: { vmId: string }) {
  const { t } = useTranslation('reports');
  const queue = useQueue(vmId);
  if (queue.data === undefined) {
    return queue.error ? (
      <Card className="mt-4">
        <QueryError
          error={queue.error}
          title={t('queue.failed')}
          onRetry={queue.refetch}
          at={new Date(queue.errorUpdatedAt)}
        />
      </Card>
    ) : (
      <SkeletonRows columns={['w-24', 'w-64']} rows={6} label={t('queue.loading')} />
    );
  }
  const { now, next, waiting } = queue.data;
  if (now === null && next.length === 0 && waiting.length === 0) {
    return (
      <Card className="mt-4">
        <EmptyState title={t('queue.none')}>
          <p>{t('queue.none.why')}</p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card className="mt-4">
      <TableFrame label={t('queue.title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('queue.column.place')}</Th>
              <Th>{t('queue.column.what')}</Th>
              <Th className="max-sm:hidden">{t('queue.column.who')}</Th>
              <Th end className="max-sm:hidden">
                {t('queue.column.turn')}
              </Th>
              <Th className="max-sm:hidden">{t('queue.column.limit')}</Th>
            </tr>
          </THead>
          {now === null ? null : <Section label={t('queue.now')} groups={queueGroups([now])} running={now} />}
          <Section label={t('queue.next')} groups={queueGroups(next)} />
          <Section label={t('queue.waiting')} groups={queueGroups(waiting)} />
        </Table>
      </TableFrame>
    </Card>
  );
}

interface SectionProps {
  label: string;
  groups: readonly QueueGroup[];
  /** The running entry, which has the start time. */
  running?: QueueLine;
}

function Section({ label, groups, running }: SectionProps) {
  const { t } = useTranslation('reports');
  if (groups.length === 0) return null;
  return (
    <TBody className="border-t border-line first-of-type:border-t-0">
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the queue is what a row is about
        <tr key={index}>
          {index === 0 ? (
            <th scope="rowgroup" rowSpan={groups.length} className="px-3 py-2 text-start align-top text-12 text-ink-3">
              {label}
            </th>
          ) : null}
          <Td className="ps-3! py-2 whitespace-normal">
            <span className="flex gap-2">
              <StatusIcon status={running ? 'progressing' : 'waiting'} className="mt-0.5 size-3.5 shrink-0" />
              <span className="min-w-40">
                <span className="font-medium wrap-anywhere" translate="no">
                  {group.name}
                </span>
                <span className="block text-12 text-ink-2 tabular-nums">
                  <StepsText steps={group.steps} />
                </span>
                {group.reason === null ? null : (
                  <span className="block text-12 text-pretty text-ink-2">{group.reason}</span>
                )}
                <span className="mt-1 block text-12 text-ink-3 sm:hidden">
                  <Requester group={group} />
                </span>
              </span>
            </span>
          </Td>
          <Td className="py-2 align-top max-sm:hidden">
            <Requester group={group} />
          </Td>
          <Td end className="py-2 align-top tabular-nums max-sm:hidden">
            {group.turn ?? '–'}
          </Td>
          <Td className="py-2 align-top max-sm:hidden">
            <Limits steps={group.steps} />
            {running?.since ? (
              <span className="block text-12 text-ink-2 tabular-nums">
                {t('queue.running')} <Elapsed value={new Date(running.since)} />
              </span>
            ) : null}
          </Td>
        </tr>
      ))}
    </TBody>
  );
}

/** Who requested the work, and when. */
function Requester({ group: { askedBy, askedAt } }: { group: QueueGroup }) {
  const { t } = useTranslation('reports');
  return (
    <>
      {askedBy === null ? t('queue.unknown') : <span translate="no">{askedBy}</span>}
      {askedAt === null ? null : (
        <RelativeTime value={new Date(askedAt)} className="ms-2 text-12 text-ink-2 sm:ms-0 sm:block" />
      )}
    </>
  );
}

/** The timeouts of the commands. If all are equal, the timeout is shown once. */
function Limits({ steps }: Pick<QueueGroup, 'steps'>) {
  const { t } = useTranslation('common');
  const format = useFormat();
  const limits = steps.flatMap(({ limitSeconds }) => (limitSeconds === null ? [] : [limitSeconds]));
  const different = [...new Set(limits)];
  if (different.length === 0) return '–';
  const words = (different.length === 1 ? different : limits).map((limit) => t('time.for.s', { n: limit }));
  return <span className="tabular-nums">{format.list(words)}</span>;
}
