'use client';

import { Bot, CornerDownRight, ListChecks, Undo2 } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Avatar } from '#app/_ui/avatar.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { NextAct } from './next-act.tsx';
import { RingStrip } from './ring-strip.tsx';
import { decidedOf, hasEnded, type ListedRollout, rolloutHref, statusOfState } from './rollout-data.ts';
import { useChangeWords } from './use-change-words.ts';
import { useSentence } from './use-sentence.ts';

const kindIcons = { bulk: ListChecks, revert: Undo2, automatic: Bot } as const;

export interface RolloutItemProps {
  row: ListedRollout;
  /** Whether the rollout belongs to the one above it. */
  isPart: boolean;
  /** Whether the row is selected by keyboard. */
  isCursor: boolean;
}

/** A rollout in the list: what it changes, its progress, and why it waits. */
export function RolloutItem({ row, isPart, isCursor }: RolloutItemProps) {
  return (
    <li
      data-cursor={isCursor || undefined}
      className={cn(
        'relative grid grid-cols-[minmax(0,5fr)_minmax(0,4fr)_minmax(0,6fr)] gap-x-6 gap-y-1.5 border-t border-line-subtle px-4 py-2.5 hover:bg-hover max-md:grid-cols-[minmax(0,1fr)]',
        isPart && 'border-dashed',
        isCursor &&
          'shadow-[inset_2px_0_var(--brand-text),inset_0_1px_var(--brand-text),inset_0_-1px_var(--brand-text)]',
      )}
    >
      <NameAndChange row={row} isPart={isPart} />
      <Progress row={row} />
      <div className="flex min-w-0 items-center gap-x-4 gap-y-1.5 max-md:flex-wrap">
        <Why row={row} />
        <NextAct row={row} />
      </div>
    </li>
  );
}

function NameAndChange({ row, isPart }: Pick<RolloutItemProps, 'row' | 'isPart'>) {
  const { t } = useTranslation('rollouts');
  const change = useChangeWords();
  const Kind = row.kind === 'rollout' ? null : kindIcons[row.kind];
  return (
    <div className="flex min-w-0 gap-2">
      {isPart ? <CornerDownRight aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3 rtl:-scale-x-100" /> : null}
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Link
            href={rolloutHref(row.id)}
            prefetch={false}
            translate="no"
            className="font-semibold wrap-anywhere after:absolute after:inset-0 focus-visible:after:shadow-focus"
          >
            {row.name}
          </Link>
          {Kind === null ? null : (
            <span className="inline-flex items-center gap-1 text-12 text-ink-3">
              <Kind aria-hidden className="size-3.5" />
              {t(`kind.${row.kind}`)}
            </span>
          )}
        </p>
        <p className="text-12 wrap-anywhere text-ink-2">{change(row.change)}</p>
      </div>
    </div>
  );
}

function Progress({ row: { state, counts, rings } }: { row: ListedRollout }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { members } = counts;
  const failed = counts.failed + counts.reverted;
  const isBefore = ['draft', 'planning', 'planned', 'checking', 'scheduled'].includes(state);
  return (
    <div className="min-w-0">
      <RingStrip rings={rings} className="pt-1" />
      <p className="mt-1 flex flex-wrap gap-x-2.5 text-12 text-ink-2 tabular-nums">
        {members === 0 ? (
          t(state === 'planned' ? 'list.rings' : 'list.notPlanned', { count: rings.length })
        ) : isBefore ? (
          <>
            <span>{t('list.vms', { count: members, n: format.number(members) })}</span>
            <span className="text-ink-3">{t('list.notStarted')}</span>
          </>
        ) : (
          <span>{t('list.count', { done: format.number(decidedOf(counts)), members: format.number(members) })}</span>
        )}
        {failed === 0 ? null : (
          <span data-st="failed" className="inline-flex items-center gap-1 text-st-text">
            <StatusIcon status="failed" className="size-3" />
            {t('list.failedCount', { count: failed, n: format.number(failed) })}
          </span>
        )}
      </p>
    </div>
  );
}

function Why({ row }: { row: ListedRollout }) {
  const { t } = useTranslation('rollouts');
  const sentence = useSentence();
  const { state, createdBy, endedAt, startedAt, createdAt } = row;
  const since = row.why[0]?.since ?? startedAt ?? createdAt;
  return (
    <div className="min-w-0 flex-1 max-md:flex-auto">
      <p className="text-pretty wrap-anywhere">{sentence(row)}</p>
      <p className="flex flex-wrap items-center gap-x-2.5 text-12 text-ink-3">
        <Status status={statusOfState[state]}>{t(`state.${state}`)}</Status>
        {hasEnded(row) && endedAt !== null ? (
          <DateTime value={new Date(endedAt)} />
        ) : (
          <RelativeTime value={new Date(since)} />
        )}
        <span className="inline-flex min-w-0 items-center gap-1.5">
          <Avatar name={createdBy} />
          <span translate="no" className="truncate">
            {createdBy}
          </span>
        </span>
      </p>
    </div>
  );
}
