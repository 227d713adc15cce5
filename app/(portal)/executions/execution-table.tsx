'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Avatar } from '#app/_ui/avatar.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { Duration, RunningFor } from './duration.tsx';
import { type ShownExecution, tookMs } from './execution-data.ts';
import { ExecutionName, ExecutionState, Outcome } from './execution-name.tsx';
import { QueuedBy } from './queued-by.tsx';

export interface ExecutionTableProps {
  label: string;
  executions: readonly ShownExecution[];
  /** Whether to show the VM of each execution. */
  showsVm: boolean;
  /**
   * Whether to omit the people who queued the executions and to show durations below the times, because cards beside the
   * table leave no room.
   */
  isNarrow?: boolean;
}

/** Executions, one per row. On narrow pages, most columns move below the name. */
export function ExecutionTable({ label, executions, showsVm, isNarrow = false }: ExecutionTableProps) {
  const { t } = useTranslation('executions');
  return (
    <TableFrame label={label}>
      <Table>
        <THead>
          <tr>
            <Th className="max-sm:hidden">{t('column.state')}</Th>
            <Th className="max-sm:px-4!">{t('column.execution')}</Th>
            {showsVm ? <Th className="max-sm:hidden">{t('column.vm')}</Th> : null}
            <Th className="max-sm:hidden">{t('column.outcome')}</Th>
            {isNarrow ? null : <Th className="max-sm:hidden">{t('column.by')}</Th>}
            <Th className="max-sm:hidden">{t('column.queued')}</Th>
            {isNarrow ? null : (
              <Th end className="max-sm:hidden">
                {t('column.took')}
              </Th>
            )}
          </tr>
        </THead>
        <TBody>
          {executions.map((execution) => (
            <ExecutionRow key={execution.id} {...{ execution, showsVm, isNarrow }} />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

interface ExecutionRowProps {
  execution: ShownExecution;
  showsVm: boolean;
  isNarrow: boolean;
}

function ExecutionRow({ execution, showsVm, isNarrow }: ExecutionRowProps) {
  const { queuedBy, queuedAt, rolloutId } = execution;
  return (
    <Tr>
      <Td className="py-2 align-top max-sm:hidden">
        <ExecutionState execution={execution} />
      </Td>
      <Td className={cn('py-2 align-top whitespace-normal max-sm:px-4! sm:min-w-44', !isNarrow && 'lg:min-w-52')}>
        <ExecutionName execution={execution} />
        <span className="block sm:hidden">
          <ExecutionState execution={execution} />
        </span>
        <span className="mt-0.5 block text-12 text-pretty text-ink-2 sm:hidden">
          <Outcome execution={execution} />
          <span className="block text-ink-3">
            {showsVm ? <VmLink execution={execution} /> : null}
            {showsVm ? ' · ' : null}
            <QueuedBy execution={execution} />
            {' · '}
            <DateTime value={new Date(queuedAt)} /> <Took execution={execution} before="· " />
          </span>
        </span>
      </Td>
      {showsVm ? (
        <Td className="py-2 align-top max-sm:hidden">
          <VmLink execution={execution} />
        </Td>
      ) : null}
      <Td className="min-w-52 py-2 align-top text-pretty whitespace-normal text-ink-2 max-sm:hidden">
        <span className="line-clamp-3">
          <Outcome execution={execution} />
        </span>
      </Td>
      {isNarrow ? null : (
        <Td className="py-2 align-top max-sm:hidden">
          {rolloutId === null ? (
            <span className="flex items-center gap-1.5">
              <Avatar name={queuedBy} />
              <span translate="no" title={queuedBy} className="max-w-36 truncate">
                {queuedBy}
              </span>
            </span>
          ) : (
            <span className="line-clamp-2 max-w-44 whitespace-normal">
              <QueuedBy execution={execution} />
            </span>
          )}
        </Td>
      )}
      <Td className="py-2 align-top tabular-nums max-sm:hidden">
        <DateTime value={new Date(queuedAt)} />
        {isNarrow ? (
          <span className="block text-12 text-ink-3">
            <Took execution={execution} before="" />
          </span>
        ) : null}
      </Td>
      {isNarrow ? null : (
        <Td end className="py-2 align-top max-sm:hidden">
          <Took execution={execution} before="" />
        </Td>
      )}
    </Tr>
  );
}

function VmLink({ execution: { vmId, vmName } }: { execution: ShownExecution }) {
  return (
    <Link
      href={`/vms/${vmId}`}
      prefetch={false}
      translate="no"
      className="rounded-xs underline decoration-line underline-offset-3 hover:decoration-current"
    >
      {vmName}
    </Link>
  );
}

function Took({ execution, before }: { execution: ShownExecution; before: string }) {
  const ms = tookMs(execution);
  const { begunAt, concludedAt } = execution;
  if (ms === null && (begunAt === null || concludedAt !== null)) return null;
  return (
    <span className="whitespace-nowrap">
      {before}
      {ms === null ? <RunningFor since={begunAt ?? ''} /> : <Duration ms={ms} />}
    </span>
  );
}
