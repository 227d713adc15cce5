'use client';

import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';
import { Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import { HookRow } from '../units/hook-row.tsx';
import { type QueueLine, tabsId } from '../vm-data.ts';
import { EntryName, EntryText, Expiry } from './entry-text.tsx';
import { Limits } from './limits.tsx';
import { nameInHash, type QueueGroup, type QueueRow, queueRows, rowId, waitingGroupOf } from './queue-groups.ts';
import { useQueue } from './use-queue.ts';

export interface QueueTabProps {
  vmId: string;
  /** Whether the agent does not respond, in which case the command shown as running is only the last known one. */
  isSilent: boolean;
}

/** Everything that the machine is doing and will do next, in order, and everything that waits. */
export function QueueTab({ vmId, isSilent }: QueueTabProps) {
  const { t } = useTranslation('reports');
  const queue = useQueue(vmId);
  const marked = useMarkedName(queue.data !== undefined);
  if (queue.data === undefined) {
    return (
      <Card className="mt-4">
        {queue.error ? (
          <QueryError
            error={queue.error}
            title={t('queue.failed')}
            onRetry={queue.refetch}
            at={new Date(queue.errorUpdatedAt)}
          />
        ) : (
          <SkeletonRows columns={['w-24', 'w-64']} rows={6} label={t('queue.loading')} />
        )}
      </Card>
    );
  }
  const { now, next, waiting } = queue.data;
  const rows = {
    now: queueRows(now === null ? [] : [now]),
    next: queueRows(next),
    waiting: queueRows(waiting),
  };
  const markedGroup = marked === null ? undefined : waitingGroupOf(marked, rows);
  const isEmpty = Object.values(rows).every((section) => section.length === 0);
  return (
    // If a row is marked, makes the page long enough on a phone for `scrollToRow` to move the tabs below the top bar.
    <div className={cn(marked !== null && 'max-sm:min-h-[calc(100dvh-var(--topbar)-var(--tabbar)-72px)]')}>
      <p role="status" className="not-empty:mt-4 not-empty:text-12 not-empty:text-ink-2">
        {marked !== null && markedGroup === undefined ? t('queue.gone', { name: marked }) : null}
      </p>
      <Card className="mt-4">
        {isEmpty ? (
          <EmptyState title={t('queue.none')}>
            <p>{t('queue.none.why')}</p>
          </EmptyState>
        ) : (
          <QueueTable {...{ vmId, rows, isSilent }} running={now} marked={markedGroup} />
        )}
      </Card>
    </div>
  );
}

/** Returns the extension in the URL, as in `#queue-probe`, once the rows are loaded, and moves the focus to its row. */
function useMarkedName(isLoaded: boolean): string | null {
  const [name, setName] = useState<string | null>(null);
  useEffect(() => {
    if (!isLoaded) return;
    const read = () => setName(nameInHash(location.hash));
    read();
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, [isLoaded]);
  useEffect(() => {
    if (name === null) return;
    const row = document.getElementById(rowId(name));
    if (row === null) return;
    scrollToRow(row);
    row.focus({ preventScroll: true });
  }, [name]);
  return name;
}

/**
 * Scrolls only as far as necessary: first until the tabs are below the top bar, so that the bar does not cut through the
 * buttons above them, then until the row is in the middle.
 */
function scrollToRow(row: HTMLElement): void {
  const margin = Number.parseFloat(getComputedStyle(row).scrollMarginBottom);
  const isBelow = () => row.getBoundingClientRect().bottom > innerHeight - margin;
  if (isBelow()) document.getElementById(tabsId)?.scrollIntoView({ block: 'start' });
  if (isBelow()) row.scrollIntoView({ block: 'center' });
}

interface QueueTableProps {
  vmId: string;
  rows: Readonly<Record<'now' | 'next' | 'waiting', readonly QueueRow[]>>;
  running: QueueLine | null;
  isSilent: boolean;
  marked: QueueGroup | undefined;
}

function QueueTable({ vmId, rows, running, isSilent, marked }: QueueTableProps) {
  const { t } = useTranslation('reports');
  return (
    <TableFrame label={t('queue.title')}>
      <Table>
        <THead className="max-sm:sr-only">
          <tr>
            <Th>{t('queue.column.what')}</Th>
            <Th className="max-sm:hidden">{t('queue.column.who')}</Th>
            <Th end className="max-sm:hidden">
              {t('queue.column.turn')}
            </Th>
            <Th className="max-sm:hidden">{t('queue.column.limit')}</Th>
          </tr>
        </THead>
        {(['now', 'next', 'waiting'] as const).map((section) =>
          rows[section].length === 0 ? null : (
            <TBody key={section}>
              <tr>
                <th
                  scope="rowgroup"
                  colSpan={4}
                  className="h-8 border-b border-line-subtle bg-sunken text-start text-12 font-medium text-ink-2"
                >
                  {t(`queue.${section}`)}
                  {section === 'now' ? null : (
                    <span className="ms-2 text-ink-3 tabular-nums">{rows[section].length}</span>
                  )}
                </th>
              </tr>
              {rows[section].map((entry, index) => {
                const place = { section, place: index + 1, isSilent };
                return entry.kind === 'hook' ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position in the queue
                  <HookRow key={index} hook={entry.hook} icon={<PlaceIcon {...place} />} isSilent={isSilent} />
                ) : (
                  <GroupRow
                    // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position in the queue
                    key={index}
                    vmId={vmId}
                    group={entry.line}
                    isMarked={entry.line === marked}
                    icon={<PlaceIcon {...place} />}
                    running={section === 'now' && running?.since ? { since: running.since, isSilent } : null}
                  />
                );
              })}
            </TBody>
          ),
        )}
      </Table>
    </TableFrame>
  );
}

interface PlaceIconProps {
  section: 'now' | 'next' | 'waiting';
  place: number;
  isSilent: boolean;
}

/** The position of an entry that runs next, or an icon for an entry that is running or waiting. */
function PlaceIcon({ section, place, isSilent }: PlaceIconProps) {
  if (section === 'next') {
    return <span className="min-w-3.5 shrink-0 text-center text-12 text-ink-3 tabular-nums">{place}</span>;
  }
  const status = section === 'waiting' ? 'waiting' : isSilent ? 'unresponsive' : 'progressing';
  return <StatusIcon status={status} className="mt-0.5 size-3.5 shrink-0" />;
}

type Running = { since: string; isSilent: boolean };

interface GroupRowProps {
  vmId: string;
  group: QueueGroup;
  isMarked: boolean;
  icon: ReactNode;
  running: Running | null;
}

/**
 * A bar at the start of the row. Focus adds lines above and below, because the cells would cover a ring around the row.
 */
const markedRow = [
  'bg-brand-tint [--cut:var(--brand-tint)] [&>td:first-child]:shadow-[inset_3px_0_var(--brand-text)]',
  'focus-visible:shadow-none focus-visible:[&>td]:shadow-[inset_0_2px_var(--brand-text),inset_0_-2px_var(--brand-text)]',
  'focus-visible:[&>td:first-child]:shadow-[inset_3px_0_var(--brand-text),inset_0_2px_var(--brand-text),inset_0_-2px_var(--brand-text)]',
].join(' ');

function GroupRow({ vmId, group, isMarked, icon, running }: GroupRowProps) {
  return (
    <tr
      {...(isMarked && { id: rowId(group.name), tabIndex: -1, 'aria-current': true })}
      className={cn('scroll-mb-(--tabbar) align-top', isMarked && markedRow)}
    >
      <Td className="py-2 whitespace-normal">
        <span className="flex gap-2">
          {icon}
          <span className="min-w-0">
            <EntryName vmId={vmId} group={group} />
            <span className="block text-12 text-pretty wrap-anywhere text-ink-2 tabular-nums">
              <EntryText group={group} />
            </span>
            <Expiry group={group} />
            {group.reason === null ? null : (
              <span className="block text-12 text-pretty wrap-anywhere text-ink-2">{group.reason}</span>
            )}
            <span className="mt-1 block text-12 text-ink-2 sm:hidden">
              <Requester group={group} />
              <span className="block">
                <NarrowLimits group={group} />
              </span>
              <RunningFor running={running} />
            </span>
          </span>
        </span>
      </Td>
      <Td className="py-2 max-sm:hidden">
        <Requester group={group} />
      </Td>
      <Td end className="py-2 tabular-nums max-sm:hidden">
        {group.turn ?? '–'}
      </Td>
      <Td className="py-2 max-sm:hidden">
        <Limits {...group} />
        <RunningFor running={running} />
      </Td>
    </tr>
  );
}

/** The turn and the timeouts, shown on narrow pages, where their columns are hidden. */
function NarrowLimits({ group: { steps, turn, limitSeconds } }: { group: QueueGroup }) {
  const { t } = useTranslation('reports');
  const isLimited = limitSeconds !== null || steps.some((step) => step.limitSeconds !== null);
  return (
    <>
      {turn === null ? null : `${t('queue.column.turn')} ${turn}`}
      {turn !== null && isLimited ? ' · ' : null}
      {isLimited ? (
        <>
          {t('queue.column.limit')} <Limits steps={steps} limitSeconds={limitSeconds} />
        </>
      ) : null}
    </>
  );
}

function RunningFor({ running }: { running: Running | null }) {
  const { t } = useTranslation('reports');
  if (running === null) return null;
  return (
    <span className="block text-12 text-ink-2 tabular-nums">
      {running.isSilent ? (
        t('queue.ran')
      ) : (
        <>
          {t('queue.running')} <Elapsed use="since" value={new Date(running.since)} />
        </>
      )}
    </span>
  );
}

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
