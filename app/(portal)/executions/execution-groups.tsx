'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { type ExecutionOutcome, type ShownExecutionGroup, shapeOfState, statusOfState } from './execution-data.ts';
import { ExecutionTable } from './execution-table.tsx';
import { type ExecutionsFilter, queryOfFilter } from './executions-address.ts';
import { MoreButton } from './more-button.tsx';
import { useExecutions } from './use-executions.ts';

/** Interval in milliseconds at which the numbers are reloaded. They are not live, because they are costly to count. */
const reloadMs = 10_000;

export interface ExecutionGroupsProps {
  filter: ExecutionsFilter;
  /** Shown if there are no executions. */
  empty: ReactNode;
}

/** The executions of all VMs, counted by plan and outcome. The executions of an outcome are listed on request. */
export function ExecutionGroups({ filter, empty }: ExecutionGroupsProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const read = useQuery({
    ...trpc.executions.groups.queryOptions(queryOfFilter(filter)),
    placeholderData: keepPreviousData,
    refetchInterval: reloadMs,
  });
  if (read.error && !read.data) {
    return (
      <QueryError title={t('failed')} error={read.error} onRetry={read.refetch} at={new Date(read.errorUpdatedAt)} />
    );
  }
  if (read.isPending) return <SkeletonRows columns={['w-40', 'w-12', 'w-48']} rows={8} label={t('loading')} />;
  const { groups, isCut } = read.data;
  if (groups.length === 0) return empty;
  return (
    <div aria-busy={read.isPlaceholderData} className={cn(read.isPlaceholderData && 'opacity-60')}>
      <TableFrame label={t('groups.title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('groups.plan')}</Th>
              <Th>{t('groups.outcomes')}</Th>
              <Th end className="max-sm:hidden">
                {t('groups.count')}
              </Th>
              <Th end className="max-sm:hidden">
                {t('groups.newest')}
              </Th>
            </tr>
          </THead>
          <TBody>
            {groups.map((group) => (
              <GroupRow
                key={JSON.stringify([group.name, group.version, group.runbook])}
                group={group}
                filter={filter}
              />
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {isCut ? <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-2">{t('groups.cut')}</p> : null}
    </div>
  );
}

function GroupRow({ group, filter }: { group: ShownExecutionGroup; filter: ExecutionsFilter }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const [open, setOpen] = useState<string | null>(null);
  const { name, version, count, newestAt, outcomes } = group;
  const shown = outcomes.find((outcome) => keyOf(outcome) === open);
  return (
    <>
      <Tr>
        <Td className="py-2 align-top whitespace-normal max-sm:min-w-32">
          <span className="font-medium wrap-break-word">
            {name === '' ? t('unnamed') : <span translate="no">{name}</span>}
          </span>{' '}
          <span translate="no" className="mono text-12 text-ink-2">
            {version}
          </span>
          <span className="block text-12 whitespace-nowrap text-ink-3 tabular-nums sm:hidden">
            {t('groups.counted', { count, n: format.number(count) })}
            <span className="block">
              <DateTime value={new Date(newestAt)} />
            </span>
          </span>
        </Td>
        <Td className="py-1.5 align-top whitespace-normal">
          <span className="-ms-2 flex flex-wrap gap-1">
            {outcomes.map((outcome) => (
              <OutcomeButton
                key={keyOf(outcome)}
                outcome={outcome}
                isOpen={keyOf(outcome) === open}
                onToggle={() => setOpen(keyOf(outcome) === open ? null : keyOf(outcome))}
              />
            ))}
          </span>
        </Td>
        <Td end className="py-2 align-top tabular-nums max-sm:hidden">
          {format.number(count)}
        </Td>
        <Td end className="py-2 align-top tabular-nums max-sm:hidden">
          <DateTime value={new Date(newestAt)} />
        </Td>
      </Tr>
      {shown === undefined ? null : (
        <tr>
          <td colSpan={4} className="max-w-0 border-b border-line-subtle bg-sunken p-0!">
            <GroupedExecutions group={group} outcome={shown} filter={filter} />
          </td>
        </tr>
      )}
    </>
  );
}

const keyOf = ({ state, cancellation, code }: ExecutionOutcome): string => `${state} ${cancellation} ${code}`;

interface OutcomeButtonProps {
  outcome: ExecutionOutcome;
  isOpen: boolean;
  onToggle(): void;
}

function OutcomeButton({ outcome: { state, cancellation, code, count }, isOpen, onToggle }: OutcomeButtonProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  return (
    <Button
      size="sm"
      variant="ghost"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="max-sm:h-auto max-sm:w-full max-sm:shrink max-sm:justify-start max-sm:py-1 max-sm:text-start max-sm:whitespace-normal"
    >
      <StatusIcon
        status={cancellation === 'not-run' ? 'warning' : statusOfState[state]}
        shape={cancellation === 'not-run' ? undefined : shapeOfState[state]}
      />
      <span className="text-ink tabular-nums">{format.number(count)}</span>
      <span className="inline-flex min-w-0 flex-wrap gap-x-1.5">
        {t(`state.${cancellation ?? state}`)}
        {code === null || code === 0 ? null : <span className="text-ink-3">{t('code', { code })}</span>}
      </span>
    </Button>
  );
}

interface GroupedExecutionsProps {
  group: ShownExecutionGroup;
  outcome: ExecutionOutcome;
  filter: ExecutionsFilter;
}

function GroupedExecutions({ group, outcome, filter }: GroupedExecutionsProps) {
  const { t } = useTranslation('executions');
  const { name, version, runbook } = group;
  const { state, cancellation, code } = outcome;
  const { list, executions } = useExecutions({
    ...queryOfFilter(filter),
    group: { name, version, runbook, state, cancellation, code },
  });
  if (list.error && !list.data) {
    return (
      <QueryError title={t('failed')} error={list.error} onRetry={list.refetch} at={new Date(list.errorUpdatedAt)} />
    );
  }
  if (list.isPending) return <SkeletonRows columns={['w-20', 'w-40', 'w-48']} rows={3} label={t('loading')} />;
  return (
    <>
      <ExecutionTable
        label={`${name} ${version}, ${t(`state.${cancellation ?? state}`)}`}
        executions={executions}
        showsVm
      />
      <MoreButton list={list} />
    </>
  );
}
