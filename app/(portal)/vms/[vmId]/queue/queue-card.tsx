'use client';

import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Elapsed } from '#app/_ui/time.tsx';
import type { HookEntry } from '../units/hook-entries.ts';
import { HookText, HookUnit, HookWaits } from '../units/hook-text.tsx';
import { type InstanceDetails, type QueueDetails, type QueueLine, tabHref } from '../vm-data.ts';
import { EntryName, EntryText } from './entry-text.tsx';
import { Limits } from './limits.tsx';
import { type QueueGroup, type QueueRow, queueRows } from './queue-groups.ts';
import { type ReadQueue, useQueue } from './use-queue.ts';

/** Loaded on demand, since few VMs need it. The server renders it, so nothing moves when its script loads. */
const CancelWaiting = dynamic(() =>
  import('#app/(portal)/executions/cancel-buttons.tsx').then((module) => module.CancelWaiting),
);

/** Number of rows on the card. The tab shows all rows. */
const shownRows = 5;

interface QueueCardProps {
  vmId: string;
  name: string;
  agent: InstanceDetails['agent']['status'];
  isEnrolled: boolean;
  first: ReadQueue | undefined;
}

/**
 * The first rows of the machine's queue: what the machine is doing and will do next. Before the agent's first call, they
 * show what it will do first.
 */
export function QueueCard({ vmId, name, agent, isEnrolled, first }: QueueCardProps) {
  const { t } = useTranslation('reports');
  const id = useId();
  const queue = useQueue(vmId, first);
  return (
    <Card aria-labelledby={id} className="flex flex-col">
      <CardHeader id={id} title={t('queue.title')} />
      {queue.data ? (
        <QueueRows
          vmId={vmId}
          name={name}
          queue={agent === 'never' ? beforeFirstCall(queue.data) : queue.data}
          agent={agent}
          isEnrolled={isEnrolled}
        />
      ) : queue.error ? (
        <QueryError
          error={queue.error}
          title={t('queue.failed')}
          onRetry={queue.refetch}
          at={new Date(queue.errorUpdatedAt)}
        />
      ) : (
        <SkeletonRows columns={['w-24', 'w-32']} rows={3} label={t('queue.loading')} />
      )}
    </Card>
  );
}

/** Before the agent's first call, every command waits. Commands that wait for nothing else run after that call. */
function beforeFirstCall({ now, waiting }: QueueDetails): QueueDetails {
  const isFirst = ({ reason }: QueueLine) => reason?.code === 'never';
  return {
    now,
    next: waiting.filter(isFirst).map((entry) => ({ ...entry, reason: null })),
    waiting: waiting.filter((entry) => !isFirst(entry)),
  };
}

interface QueueRowsProps {
  vmId: string;
  name: string;
  queue: QueueDetails;
  agent: InstanceDetails['agent']['status'];
  isEnrolled: boolean;
}

function QueueRows({ vmId, name, queue, agent, isEnrolled }: QueueRowsProps) {
  const { now, next, waiting } = queue;
  const { t } = useTranslation('reports');
  const reader = useReader();
  const isSilent = agent === 'unresponsive';
  const count = [...next, ...waiting].filter(isExecution).length;
  const room = shownRows - (now === null ? 0 : 1);
  const rows = queueRows(next);
  const waitingRows = queueRows(waiting);
  const shownNext = rows.slice(0, room);
  const shownWaiting = waitingRows.slice(0, room - shownNext.length);
  const rest = rows.length + waitingRows.length - shownNext.length - shownWaiting.length;
  if (now === null && rows.length + waitingRows.length === 0) {
    return <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t('queue.empty')}</p>;
  }
  return (
    <>
      {agent === 'never' ? (
        <p className="px-4 pb-1 text-12 text-pretty text-ink-2">{t(isEnrolled ? 'queue.unheard' : 'queue.never')}</p>
      ) : null}
      <div className="divide-y divide-line-subtle px-4">
        {now === null ? null : <NowRow vmId={vmId} entry={now} isSilent={isSilent} />}
        {shownNext.length === 0 ? null : <Rows vmId={vmId} label={t('queue.next')} entries={shownNext} />}
        {shownWaiting.length === 0 ? null : <Rows vmId={vmId} label={t('queue.waiting')} entries={shownWaiting} />}
      </div>
      <div className="mt-auto flex flex-wrap items-center gap-x-2 gap-y-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-2">
        {rest > 0 ? <span className="tabular-nums">{t('queue.more', { count: rest })}</span> : null}
        {count > 0 && reader.can('operator') ? <CancelWaiting vmId={vmId} name={name} count={count} /> : null}
        <Link
          href={tabHref(vmId, 'queue')}
          className="ms-auto whitespace-nowrap text-brand-text underline underline-offset-2"
        >
          {t('queue.all')}
        </Link>
      </div>
    </>
  );
}

const isExecution = ({ kind }: QueueLine): boolean => kind === 'execution';

const rowShape = 'grid grid-cols-[4.5rem_16px_minmax(0,1fr)] gap-x-2 py-2';

function NowRow({ vmId, entry, isSilent }: { vmId: string; entry: QueueLine; isSilent: boolean }) {
  const { t } = useTranslation('reports');
  const [row] = queueRows([entry]);
  if (row?.kind === 'hook') return <NowHook hook={row.hook} isSilent={isSilent} />;
  const group = row?.line;
  return (
    <div className={rowShape}>
      <h3 className="text-12 text-ink-3">{t('queue.now')}</h3>
      <StatusIcon status={isSilent ? 'unresponsive' : 'progressing'} className="mt-0.5 size-3.5" />
      <div className="min-w-0">
        {group ? <EntryName vmId={vmId} group={group} /> : null}
        <span className="block text-12 text-ink-2 tabular-nums">
          {group ? <EntryText group={group} /> : null}
          {entry.since === null || isSilent ? null : (
            <>
              {' · '}
              <span className="inline-block">
                <Elapsed value={new Date(entry.since)} />
                {entry.limitSeconds === null || group === undefined ? null : (
                  <>
                    {' / '}
                    <Limits {...group} />
                  </>
                )}
              </span>
            </>
          )}
        </span>
        {isSilent ? <span className="block text-12 text-pretty text-ink-2">{t('queue.ran')}</span> : null}
      </div>
    </div>
  );
}

interface RowsProps {
  vmId: string;
  label: string;
  entries: readonly QueueRow[];
}

function Rows({ vmId, label, entries }: RowsProps) {
  return (
    <div className="grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-2 py-2">
      <h3 className="text-12 text-ink-3">{label}</h3>
      <ol className="min-w-0 space-y-1.5">
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position in the queue
          <li key={index} className="grid grid-cols-[16px_minmax(0,1fr)] gap-x-2">
            <StatusIcon status="waiting" className="mt-0.5 size-3.5" />
            <div className="min-w-0">
              {entry.kind === 'hook' ? <HookLine hook={entry.hook} /> : <GroupLine vmId={vmId} group={entry.line} />}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function GroupLine({ vmId, group }: { vmId: string; group: QueueGroup }) {
  return (
    <>
      <EntryName vmId={vmId} group={group} />
      <span className="block text-12 text-pretty wrap-anywhere text-ink-2 tabular-nums">
        {group.reason ?? <EntryText group={group} />}
        {group.execution === null || group.askedBy === null ? null : (
          <>
            {' · '}
            <span translate="no">{group.askedBy}</span>
          </>
        )}
      </span>
    </>
  );
}

function HookLine({ hook }: { hook: HookEntry }) {
  return (
    <>
      <HookUnit hook={hook} />
      <span className="block text-12 text-pretty wrap-anywhere text-ink-2 tabular-nums">
        <HookText hook={hook} />
        {hook.waits === null ? null : (
          <span className="block">
            <HookWaits hook={hook} />
          </span>
        )}
      </span>
    </>
  );
}

/** The hook that runs. */
function NowHook({ hook, isSilent }: { hook: HookEntry; isSilent: boolean }) {
  const { t } = useTranslation('reports');
  return (
    <div className={rowShape}>
      <h3 className="text-12 text-ink-3">{t('queue.now')}</h3>
      <StatusIcon status={isSilent ? 'unresponsive' : 'progressing'} className="mt-0.5 size-3.5" />
      <div className="min-w-0">
        <HookUnit hook={hook} />
        <span className="block text-12 text-ink-2 tabular-nums">
          <HookText hook={hook} />
          {hook.since === null || isSilent ? null : (
            <>
              {' · '}
              <Elapsed value={new Date(hook.since)} />
            </>
          )}
        </span>
        {isSilent ? <span className="block text-12 text-pretty text-ink-2">{t('queue.ran')}</span> : null}
      </div>
    </div>
  );
}
